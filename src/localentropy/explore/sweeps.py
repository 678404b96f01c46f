"""What an explorer takes from a section of the program `sweep`: its controls, and the lines along which it asks."""

from __future__ import annotations

from typing import Any, get_args

from localentropy.explore.explorer import Call, Choice, Points, Slider, call, of
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
    found = []
    for name, values in (sweep.at.given() | sweep.over.given()).items():
        first = values[0] if isinstance(values, tuple) else values
        if isinstance(first, float | int):
            found.append(slider(name, first))
    return (*found, *activation(sweep.ensemble))


def slider(name: str, start: float) -> Slider:
    """The control of an argument in `SLIDERS`."""
    symbol, low, high, step = SLIDERS[name]
    return Slider(name, symbol, start, low, high, step)


def activation(chosen: Any) -> list[Choice]:
    """The activations that a section of the configuration allows, from its own on; none if it has none."""
    field = type(chosen).model_fields.get("activation") if chosen is not None else None
    return [Choice("activation", "activation", chosen.activation, get_args(field.annotation))] if field else []


def line(sweep: Parameters, question: str, values: dict[str, Any], points: int = POINTS, pieces: int = 1) -> Call:
    """A question of the section along its line, at values of the controls."""
    ((name, along),) = sweep.lines().items()
    grid = Points(ends(sweep, name, values), points, along.spacing)
    arguments = values | {name: grid}
    if not QUESTIONS[question].model:
        return call(question, pieces=pieces, **arguments)
    return call(question, of(type(sweep.ensemble).__name__, **arguments), pieces)
