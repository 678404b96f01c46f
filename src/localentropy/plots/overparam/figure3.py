"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

import pandas as pd
from localentropy.plots.drawing import Drawing, panels


def draw(tables, scale):
    f, a = panels(1, 3, 2)
    t = tables["franz_parisi"]
    a[0].plot(t.distance, t.entropy)
    return Drawing(f, t, "x")
