"""`diff`: which plotted numbers moved between two sets of figures' CSVs, and by how many standard errors."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localentropy.errors import DataError, first_line
from localentropy.figures.series import MEASURED
from localentropy.pipeline.outputs import GALLERY

if TYPE_CHECKING:
    import pandas as pd

OTHERS = {"scorecard", "verdicts"}
"""CSV files beside the figures that hold no figure."""
SAME = 1e-6
"""Relative difference up to which two abscissae or parameters are the same."""


@dataclass(frozen=True)
class Comparison:
    """What moved in one figure.

    Attributes:
        figure: `<paper>/<figure>`.
        rows: rows in both.
        only_a: rows in the first alone.
        only_b: rows in the second alone.
        moved: rows whose y is not the same number.
        beyond: rows whose y moved by more than the threshold.
        worst: the row of the largest move, in words; empty if none moved.
    """

    figure: str
    rows: int
    only_a: int
    only_b: int
    moved: int
    beyond: int
    worst: str

    @property
    def same(self) -> bool:
        """Whether all rows are in both and none moved by more than the threshold."""
        return not (self.beyond or self.only_a or self.only_b)


def compare_sources(a: str, b: str, sigmas: float, relative: float) -> list[Comparison]:
    """Every figure that is in both sources.

    Args:
        a: a directory with `<paper>/<figure>.csv` in it, or a git revision, whose `figures/gallery` is meant.
        b: the other one.
        sigmas: threshold of a move, in standard errors.
        relative: threshold where neither row has an error.

    Raises:
        DataError: a source is neither, has no figures, or there is no figure in both.
    """
    first, second = read_figures(a), read_figures(b)
    common = [figure for figure in first if figure in second]
    if not common:
        raise DataError(f"{a} and {b}: no figure in both ({', '.join(first)}; {', '.join(second)})")
    return [compare(figure, first[figure], second[figure], sigmas, relative) for figure in common]


def read_figures(source: str) -> dict[str, pd.DataFrame]:
    """The figures of a directory or git revision: `<paper>/<figure>` → rows.

    Raises:
        DataError: it is neither, has no figures, or one that cannot be read.
    """
    if not source:
        raise DataError("an empty word where a directory or a git revision is allowed")
    files = _files_below(Path(source)) if Path(source).is_dir() else _files_at(source)
    figures = {name: read_figure(name, content) for name, content in files}
    if not figures:
        raise DataError(f"{source}: no <paper>/<figure>.csv in it")
    return figures


def read_figure(name: str, content: bytes) -> pd.DataFrame:
    """The rows of a figure's CSV.

    Raises:
        DataError: it is no such CSV.
    """
    import pandas as pd

    try:
        rows = pd.read_csv(io.BytesIO(content), dtype={"panel": str, "series": str})
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{name}.csv: not readable ({first_line(error)})") from None
    missing = {"panel", "series", "x", "y", "y_err"} - set(rows.columns)
    if missing:
        raise DataError(f"{name}.csv: no column {', '.join(sorted(missing))}")
    if rows.empty:
        raise DataError(f"{name}.csv: no rows")
    for column in ("x", "y", "y_err"):
        if not pd.api.types.is_numeric_dtype(rows[column]):
            raise DataError(f"{name}.csv: column {column} has values that are not numbers")
    return rows


def compare(figure: str, a: pd.DataFrame, b: pd.DataFrame, sigmas: float = 3.0, relative: float = 1e-6) -> Comparison:
    """Rows matched on panel, series, x and the parameter columns, and how far their y are apart.

    A move is |Δy| / √(y_err_a² + y_err_b²); if both errors are zero or missing, |Δy| over the larger |y|. The
    denominator is at least a hundredth of the largest |y| of the series: a curve through zero has no exact zeros.
    If panel, series and parameters belong to one row only, its x may be a result too, and need not match.

    Args:
        figure: its name.
        a: rows of a figure's CSV.
        b: other rows of it.
        sigmas: threshold of a move, in standard errors.
        relative: threshold where neither row has an error.
    """
    import numpy as np

    pairs = _matched(a, b)
    both = pairs[pairs["_merge"] == "both"]
    x, y, errors = (
        both[[f"{name}_a", f"{name}_b"]].to_numpy(dtype=float, na_value=np.nan) for name in ("x", "y", "y_err")
    )
    # A mark without y is drawn at its x.
    marks = np.isnan(y).all(axis=1)
    y[marks] = x[marks]
    delta = np.abs(y[:, 1] - y[:, 0])
    error = np.hypot(*np.nan_to_num(errors).T)
    size = np.fmax(*np.abs(y).T)
    scale = both.assign(size=size).groupby(["panel", "series"], dropna=False)["size"].transform("max").to_numpy()
    exact = error == 0
    base = np.where(exact, np.maximum(size, 0.01 * scale), error)
    # Equal numbers, or two missing ones, have not moved. A number missing on one side has moved infinitely far.
    still = (delta == 0) | np.isnan(y).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(still, 0.0, np.nan_to_num(delta / base, nan=np.inf, posinf=np.inf))
        move = np.where(still, 0.0, np.nan_to_num(apart / np.where(exact, relative, sigmas), posinf=np.inf))
    worst = ""
    if len(move) and move.max() > 0:
        at = int(move.argmax())
        worst = f"{apart[at]:.3g} {'relative' if exact[at] else 'σ'}: {_words(both.iloc[at])}"
    only = pairs["_merge"].value_counts()
    return Comparison(
        figure=figure,
        rows=len(both),
        only_a=int(only["left_only"]),
        only_b=int(only["right_only"]),
        moved=int((move > 0).sum()),
        beyond=int((move > 1).sum()),
        worst=worst,
    )


def lines(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """One line per figure."""
    for c in comparisons:
        counts = f"{c.rows} rows, {c.only_a} only in A, {c.only_b} only in B, {c.moved} moved, {c.beyond} beyond"
        yield f"{c.figure}: {counts}" + (f"; largest {c.worst}" if c.worst else "")


def show(comparisons: list[Comparison]) -> None:
    """A table on a terminal, plain lines in a pipe."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not sys.stdout.isatty():
        print("\n".join(lines(comparisons)))
        return
    console, table = Console(), Table()
    for heading in ("figure", "rows", "only in A", "only in B", "moved", "beyond", "largest move"):
        table.add_column(heading, justify="left" if heading in ("figure", "largest move") else "right")
    for c in comparisons:
        numbers = (c.rows, c.only_a, c.only_b, c.moved, c.beyond)
        style = "" if c.same else "bold red"
        table.add_row(*(Text(str(cell)) for cell in (c.figure, *numbers, c.worst)), style=style)
    console.print(table)


def _matched(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Outer join of both: columns of either side end in `_a`, `_b`, but panel, series and the parameters; `_merge`."""
    import pandas as pd

    keys = ["panel", "series"]
    own = [c for c in a.columns if c in b.columns and c not in MEASURED and c not in (*keys, "x")]
    sides = pd.concat([a.assign(_side="a"), b.assign(_side="b")], ignore_index=True)
    labels = pd.DataFrame({column: _labels(sides[column]) for column in [*keys, *own, "x"]}, index=sides.index)
    names = labels[[*keys, *own]].apply(tuple, axis=1)
    alone = ~pd.concat([names, sides["_side"]], axis=1).duplicated(keep=False)
    in_both = names.map(names[alone].value_counts()) == 2
    labels.loc[alone & in_both, "x"] = -1
    # Rows with equal labels, such as neighbours on a very fine grid, are matched in their order.
    order = labels.assign(_side=sides["_side"]).groupby([*labels.columns, "_side"]).cumcount()
    labels["_order"] = order
    left, right = (
        sides.loc[sides["_side"] == side, ["panel", "series", "x", "y", "y_err", *own]].join(labels.add_prefix("_"))
        for side in "ab"
    )
    matched = left.merge(
        right, on=[f"_{c}" for c in labels.columns], how="outer", suffixes=("_a", "_b"), indicator=True
    )
    for column in [*keys, *own]:
        matched[column] = matched[f"{column}_a"].where(matched["_merge"] != "right_only", matched[f"{column}_b"])
    return matched


def _labels(values: pd.Series) -> pd.Series:
    """A number for each value, the same for values that are the same up to rounding; 0 for missing ones."""
    import numpy as np
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values):
        return pd.Series(pd.factorize(values)[0] + 1, index=values.index)
    ordered = np.unique(values.dropna().to_numpy(dtype=float))
    apart = np.diff(ordered, prepend=-np.inf) > np.maximum(SAME * np.abs(ordered), 1e-12)
    return values.map(dict(zip(ordered, np.cumsum(apart), strict=True))).fillna(0).astype(int)


def _words(row: pd.Series) -> str:
    """The labels of a row, and both its numbers."""
    import pandas as pd

    shared = {"panel", "series"}
    names = [c for c in row.index if not c.startswith("_") and c not in shared and not c.endswith(("_a", "_b"))]
    parameters = [f"{name} = {row[name]}" for name in names if not pd.isna(row[name])]
    where = ", ".join([f"panel {row['panel']}", str(row["series"]), f"x = {row['x_a']:.6g}", *parameters])
    values = (f"{row[f'y_{side}']:.6g} ± {row[f'y_err_{side}']:.2g}" for side in "ab")
    return f"{where}: {' → '.join(values)}"


def _files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.glob("*/*.csv")):
        if file.stem not in OTHERS and file.is_file():
            yield f"{file.parent.name}/{file.stem}", file.read_bytes()


def _files_at(revision: str) -> Iterator[tuple[str, bytes]]:
    """The gallery's CSVs of a git revision."""
    try:
        commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}").decode().strip()
    except OSError as error:
        raise DataError(f"{revision}: no directory, and git cannot be started ({error.strerror})") from None
    except subprocess.CalledProcessError as error:
        if words := " ".join(error.stderr.decode(errors="replace").split()):  # of another owner, or no repository
            raise DataError(f"{revision}: no directory, and git names no revision ({words})") from None
        raise DataError(f"{revision}: neither a directory nor a git revision") from None
    names = _git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, f"{GALLERY}/").decode().split("\0")
    for name in filter(None, names):
        path = Path(name).relative_to(GALLERY)
        if path.suffix == ".csv" and len(path.parts) == 2 and path.stem not in OTHERS:
            yield f"{path.parent}/{path.stem}", _git("show", f"{commit}:{name}")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], capture_output=True, check=True).stdout
