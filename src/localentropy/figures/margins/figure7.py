"""Figure 7: Franz–Parisi entropy around solutions of the largest margin, tree committee of sign units."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.drawing import Drawing
from localentropy.figures.margins.largest_margin import draw_model


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """As every figure of the largest margin."""
    return draw_model(tables["margins/sign_curves"], 7)
