"""The scorecard of two toy claims, by the real Snakemake."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tests.pipeline.conftest import Checkout

pytestmark = pytest.mark.pipeline

CLAIMS = '''
"""Claims about squares."""

from localentropy.claims.conditions import all_of, below, rises


def grow(toy_a):
    return all_of(rises("squares", toy_a["y"], along="x"), detail=f"{len(toy_a)} squares")


def differ(toy_a, toy_b):
    difference = float((toy_b["y"] - toy_a["y"]).max())
    return all_of(below("largest difference", difference, 1.0))
'''

ENTRIES = """
T01:
  claim: Squares grow.
  source: Section I
  kind: paper
  test: overparam.toy.grow
  experiments: [overparam/toy_a]
T02:
  claim: Both kinds of squares are alike.
  source: Section II
  kind: ours
  printed: "0"
  test: overparam.toy.differ
  experiments: [overparam/toy_a, overparam/toy_b]
"""

COUNTS = "1 sentences of the paper: 1 reproduced, 0 not reproduced, 0 open; our own checks: 1 fail"
CARD = {"testing the claims of overparam", "counting the verdicts of all papers"}


@pytest.fixture
def claims(toys: Checkout) -> Checkout:
    """The toy checkout with two claims."""
    (toys.folder / "src/localentropy/claims/overparam/toy.py").write_text(CLAIMS)
    (toys.folder / "config/overparam/claims.yaml").write_text(ENTRIES)
    return toys


def test_the_scorecard_is_made_once_and_again_only_for_what_it_depends_on(claims: Checkout) -> None:
    missing = claims.python("scorecard")
    assert missing.status == 1
    lacks = (
        r"error: results/overparam/toy_a/[0-9a-f]{16}\.parquet: no such table; "
        r"run `python -m localentropy run overparam/toy_a` first\n"
    )
    assert re.fullmatch(lacks, missing.output), missing.output
    first = claims.snakemake("scorecard")
    assert first.status == 0, first.output
    assert first.did >= CARD and "joining the parts of overparam/toy_b" in first.did
    assert not any(message.startswith("drawing") for message in first.did)
    card = pd.read_csv(claims.folder / "figures/default/overparam/scorecard.csv").set_index("id")
    assert card["verdict"].to_dict() == {"T01": "reproduced", "T02": "not reproduced"}
    assert card.loc["T01", "value"] == 3.0 and card.loc["T02", "experiments"] == "overparam/toy_a overparam/toy_b"
    text = (claims.folder / "figures/default/overparam/scorecard.md").read_text()
    assert f"{COUNTS}." in text
    page = (claims.folder / "figures/default/scorecard.md").read_text()
    assert f"{COUNTS}." in page and "| [overparam](overparam/scorecard.md) | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 1 |" in page
    before = claims.contents("figures/**/*")
    card_files = {f"figures/default/overparam/scorecard.{suffix}" for suffix in ("csv", "md", "html", "json")}
    assert set(before) == card_files | {f"figures/default/scorecard.{suffix}" for suffix in ("md", "html", "json")}

    assert claims.snakemake("scorecard").did == set()
    assert claims.contents("figures/**/*") == before
    assert "made by" in claims.python("show", "figures/default/scorecard.md").output
    assert claims.python("verify").status == 0

    claims.edit(
        "src/localentropy/claims/overparam/toy.py", lambda text: text.replace("difference, 1.0", "difference, 2.0")
    )
    stale = claims.python("verify")
    assert stale.status == 1 and "figures/default/overparam/scorecard.csv: made from other code" in stale.output
    assert claims.snakemake("scorecard").did == CARD

    claims.edit("config/overparam/claims.yaml", lambda text: text.replace("Squares grow.", "Squares never fall."))
    stale = claims.python("verify")
    assert stale.status == 1 and "figures/default/overparam/scorecard.csv: made from other parameters" in stale.output
    assert claims.snakemake("scorecard").did == CARD
    assert "Squares never fall." in (claims.folder / "figures/default/overparam/scorecard.html").read_text()

    claims.edit("src/localentropy/numerics/toy_kernel_b.py", lambda text: text.replace("** 2 * 2", "** 2 * 1"))
    assert CARD | {"joining the parts of overparam/toy_b"} <= claims.snakemake("scorecard").did
    card = pd.read_csv(claims.folder / "figures/default/overparam/scorecard.csv").set_index("id")
    assert card.loc["T02", "value"] == 6.0**2 - 5.0**2


def test_a_claim_without_its_test_fails_in_one_line(claims: Checkout) -> None:
    claims.edit("config/overparam/claims.yaml", lambda text: text.replace("toy.grow", "toy.grows"))
    run = claims.snakemake("scorecard")
    assert run.status != 0 and "Traceback" not in run.output
    assert "config/overparam/claims.yaml: T01.test = overparam.toy.grows: no such function" in run.output
    assert not (claims.folder / "figures/default/overparam/scorecard.csv").exists()
    claims.edit("config/overparam/claims.yaml", lambda text: text.replace("overparam/toy_a, ", "overparam/toy_c, "))
    run = claims.snakemake("scorecard")
    assert (
        run.status != 0 and run.output.count("error:") == 1 and "a figure or claim names overparam/toy_c" in run.output
    )
