"""Agreement between simulation and theory in figures: rows of the CSV, and a sentence of the settings."""

from __future__ import annotations

import pandas as pd


def csv_rows(sizes: pd.DataFrame, panel: str = "agreement") -> pd.DataFrame:
    """Rows of the CSV from `agreement_by_size`: series "D = …", x the size, y the p-value, other columns as they are."""
    names = [f"D = {D}" for D in sizes["D"]]
    table = sizes.rename(columns={"p_value": "y"})
    return table.assign(panel=panel, series=names, x=table["D"], y_err=0.0)


def in_words(sizes: pd.DataFrame, what: str, drift: bool = True) -> str:
    """The sentences on the agreement at the largest size and the drift between sizes.

    Args:
        sizes: of `agreement_by_size`.
        what: the quantity compared.
        drift: whether to give the mean deviations, or else the p-values of all sizes.
    """
    if sizes.empty:
        return f"At no size are enough instances solved to compare the {what} with the theory."
    largest = sizes.iloc[-1]
    points = f"The {n} points" if (n := int(largest["points"])) > 1 else "The only point"
    sentence = (
        f"{points} of D = {largest['D']:.0f} deviate{'' if n > 1 else 's'} from the theory by χ² = "
        f"{largest['chi_squared']:.1f}, {_p_value(largest['p_value'])}."
    )
    if drift:
        drifts = ", ".join(f"{row.drift:+.4f} ± {row.drift_err:.4f} at D = {row.D}" for row in sizes.itertuples())
        return f"{sentence} The mean deviation of the {what} is {drifts}."
    others = ", ".join(f"{_p_value(row.p_value)} at D = {row.D}" for row in sizes.iloc[:-1].itertuples())
    return f"{sentence} {f'Smaller sizes have {others}.' if others else 'There is no smaller size.'}"


def _p_value(p: float) -> str:
    """A probability without an exponent."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
