"""What an explorer takes from a section of the program `sweep`: its controls, and the lines along which it asks."""

from __future__ import annotations

from typing import Any, get_args

from localentropy.explore.explorer import Call, Choice, Grid, Slider, call, of
from localentropy.programs.sweep import QUESTIONS, Parameters, ends

POINTS = 40
SLIDERS: dict[str, tuple[str, float, float, float | None]] = {
    "alpha": ("α = P/N", 0.05, 1.25, 0.001),
    "alpha_T": ("α_T = P/D", 0.1, 20.0, 0.1),
    "inv_alpha": ("1/α = N/P", 0.7, 5.0, 0.01),
    "margin": ("κ", 0.0, 2.0, 0.01),
    "gamma": ("γ", 0.5, 20.0, None),
}
"""Argument → symbol, smallest and largest value, and step; without a step the slider is even in the logarithm."""


def controls(sweep: Parameters) -> tuple[Slider | Choice, ...]:
    """A control for each argument that has values and is not along the line, from the first of them on."""
    found: list[Slider | Choice] = []
    for name, values in (sweep.at.given() | sweep.over.given()).items():
        first = values[0] if isinstance(values, tuple) else values
        if isinstance(first, float | int):
            symbol, low, high, step = SLIDERS[name]
            found.append(Slider(name, symbol, first, low, high, step))
    if sweep.ensemble is not None and "activation" in type(sweep.ensemble).model_fields:
        options = get_args(type(sweep.ensemble).model_fields["activation"].annotation)
        found.append(Choice("activation", "activation", sweep.ensemble.activation, options))  # type: ignore[union-attr]
    return tuple(found)


def line(sweep: Parameters, question: str, values: dict[str, Any], points: int = POINTS, pieces: int = 1) -> Call:
    """A question of the section along its line, at values of the controls."""
    ((name, along),) = sweep.lines().items()
    grid = Grid(ends(sweep, name, values), points, along.spacing)
    arguments = values | {name: grid}
    if not QUESTIONS[question].model:
        return call(question, pieces=pieces, **arguments)
    return call(question, of(type(sweep.ensemble).__name__, **arguments), pieces)
