"""Lines of typical solutions through a phase diagram, in the table of the program `typical`."""

from __future__ import annotations

import pandas as pd


def typical_line(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """The rows of one line, by increasing abscissa.

    Args:
        typical: the table.
        reference: the margin, as the configuration has it.
        line: the column of the abscissa.
    """
    return typical[(typical["line"] == line) & (typical["reference"] == reference)].sort_values(line)
