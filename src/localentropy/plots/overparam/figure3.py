"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import matplotlib as mpl
import pandas as pd

from localentropy.plots.drawing import COLORS, GREY, STYLE, Drawing, letter, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 0.03
"""Right end of the panel that shows small distances on a logarithmic axis."""


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; panel (b): small ones on a logarithmic axis. Dashed where the entropy is negative."""
    table = tables["franz_parisi"]
    parameters = table.attrs["parameters"]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axes = panels(2, 7.0, 2.9)
        for key, curve in table.groupby(["curve", "reference"], sort=False):
            color = _color(str(key[0]), len(axes[0].lines) // 2)
            for axis in axes:
                _curve(axis, curve, color, str(key[0]), _label(curve))
        _finish(axes, table)
    data = pd.DataFrame(
        {
            "panel": "ab",
            "series": table["curve"] + " " + table["reference"],
            "x": table["distance"],
            "y": table["entropy"],
            "y_err": 0.0,
            "slope": table["slope"],
            "margin_ref": table["margin_ref"],
            "margin": table["margin"],
        }
    )
    return Drawing(figure, data, _caption(parameters, table))
