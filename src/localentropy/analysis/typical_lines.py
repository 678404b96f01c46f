"""Lines of typical solutions through a phase diagram, in the table of the program `typical`."""

from __future__ import annotations

import pandas as pd


def typical_line(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """The rows of one line, by increasing abscissa.

    Args:
        typical: the table.
        reference: the margin, as the configuration has it.
        line: the column of the abscissa.

    Returns:
        Rows of the table.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.typical_lines import typical_line
        >>> points = {"reference": ["max", "zero", "max"], "inv_alpha": [3.0, 2.0, 1.0]}
        >>> table = pd.DataFrame({"line": "inv_alpha"} | points)
        >>> typical_line(table, "max")["inv_alpha"].tolist()
        [1.0, 3.0]
    """
    return typical[(typical["line"] == line) & (typical["reference"] == reference)].sort_values(line)
