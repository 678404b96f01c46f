"""The largest local entropy of groups of solutions against their overlap (shaping, figures 1 and s1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

from localentropy.explore.explorer import Axes, Choice, Curve, Explorer, Points, Slider, call, of
from localentropy.figures.drawing import COLORS
from localentropy.programs.parts.parameters import Units

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration


def groups(configuration: Configuration, experiment: str) -> Explorer:
    """V₁(q₁)."""
    p: Any = configuration.experiments[experiment]

    def curves(alpha: float, units: str) -> list[Curve]:
        many = math.inf if units == "inf" else int(units)
        # With three units a point takes half a second.
        few, pieces = (12, 12) if units == "3" else (40, 1)
        grid = Points((p.overlaps[0], p.overlaps[-1]), few, "linear")
        model = of("Spherical", alpha=alpha, units=many, machine=p.machine)
        found = call("group_entropy", model, pieces, overlaps=grid)
        return [Curve("best group", found, "entropy", color=COLORS[0])]

    return Explorer(
        (
            Slider("alpha", "α = P/N", p.alphas[0], 0.05, 8.0, 0.01),
            Choice("units", "units K", str(p.units), tuple(str(units) for units in get_args(Units))),
        ),
        (
            Axes(
                "overlap $$q_1$$",
                r"local entropy $$\mathcal{V}_1$$ (nats per weight)",
                x_range=(p.overlaps[0], 1.0),
                shipped=("a", "α = .*"),
            ),
        ),
        curves,
    )
