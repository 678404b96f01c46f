"""The formulas in labels of figures, as a browser shows them without help: HTML with Unicode letters."""

from __future__ import annotations

import html
import re

SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "kappa": "κ",
    "lambda": "λ",
    "phi": "ϕ",
    "sigma": "σ",
    "Delta": "Δ",
    "infty": "∞",
    "to": " → ",
    "cdot": "·",
    "times": "×",
    "leq": "≤",
    "geq": "≥",
    "min": "min",
    "max": "max",
    "ln": "ln ",
    "log": "log ",
    ",": "\N{THIN SPACE}",
}
ACCENTS = {"tilde": "\N{COMBINING TILDE}", "hat": "\N{COMBINING CIRCUMFLEX ACCENT}"}
UPRIGHT = ("mathrm", "mathdefault")
SCRIPT = {"V": "𝒱"}
TOKEN = re.compile(r"\\[A-Za-z]+ ?|\\.|\d+|.", re.DOTALL)


def html_of(text: str) -> str:
    """Text with formulas between `$` signs as HTML: `$\\alpha_T$` → `α<sub><i>T</i></sub>`.

    Raises:
        ValueError: a command of TeX is not known here.
    """
    plain, *rest = re.split(r"\$([^$]*)\$", text)
    parts = [html.escape(plain, quote=False)]
    for formula, after in zip(rest[::2], rest[1::2], strict=True):
        tokens = TOKEN.findall(formula)
        parts += [_group(tokens, italic=True), html.escape(after, quote=False)]
    return re.sub(" {2,}", " ", "".join(parts)).replace("\n", "<br>")


def _group(tokens: list[str], italic: bool) -> str:
    """All tokens up to the brace that ends the group; they are taken from the list."""
    parts = []
    while tokens and tokens[0] != "}":
        parts.append(_next(tokens, italic))
    return "".join(parts)


def _next(tokens: list[str], italic: bool) -> str:
    """The next letter, number, command or group in braces; its tokens are taken from the list."""
    token = tokens.pop(0)
    if token == "{":
        inside = _group(tokens, italic)
        tokens[:1] = []
        return inside
    if token in "^_":
        tag = {"^": "sup", "_": "sub"}[token]
        return f"<{tag}>{_next(tokens, italic)}</{tag}>"
    if token.startswith("\\"):
        name = token[1:].strip() or " "
        if name in UPRIGHT:
            return _next(tokens, italic=False)
        if name in ACCENTS:
            return _next(tokens, italic=False) + ACCENTS[name]
        if name == "mathcal":
            return "".join(SCRIPT[letter] for letter in _next(tokens, italic=False))
        if name not in SYMBOLS:
            raise ValueError(f"{token}: no such command of TeX in labels; known: {', '.join(SYMBOLS)}")
        return SYMBOLS[name]
    if token == " ":
        return "" if italic else " "
    if token == "-":
        return "−"
    if token in "=<>+":
        return f" {html.escape(token)} "
    return f"<i>{token}</i>" if italic and token.isascii() and token.isalpha() else html.escape(token, quote=False)
