"""What every claim asks of its numbers, on its tables by hand, is what `<paper>/bounds.csv` says.

    python -m tests.claims.test_bounds      # writes the files anew

A limit of a rule that is moved is then seen in the diff, also where every table by hand is on the same side of both.
"""

from __future__ import annotations

import pandas as pd
import pytest

from tests.claims.cases import HERE
from tests.claims.test_conditions import ALL, found, good

PAPERS = sorted({claim.paper for claim in ALL.values()})


def bounds(paper: str) -> str:
    """The conditions of a paper's claims as the text of a CSV."""
    rows = [
        (key, condition.words, condition.bound)
        for key, claim in ALL.items()
        if claim.paper == paper
        for condition in found(key, good(key)).conditions
    ]
    return pd.DataFrame(rows, columns=["id", "condition", "bound"]).to_csv(index=False)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("paper", PAPERS)
def test_bounds_are_the_committed_ones(paper: str) -> None:
    file = HERE / paper / "bounds.csv"
    committed = file.read_text(encoding="utf-8") if file.exists() else ""
    assert bounds(paper) == committed, "python -m tests.claims.test_bounds writes the bounds anew"


if __name__ == "__main__":
    for paper in PAPERS:
        (HERE / paper / "bounds.csv").write_text(bounds(paper), encoding="utf-8")
