"""The golden comparison sees what it must see, and no more; `golden` writes what it compares."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from localentropy.pipeline.config import name_target, read_claims, read_figures, resolve
from tests.pipeline.conftest import Checkout
from tests.pipeline.golden import GOLDEN, difference, trained, verdict_differences
from tests.pipeline.test_scorecard import CLAIMS, COUNTS, ENTRIES

pytestmark = pytest.mark.pipeline


def rows(series: str, points: int = 40) -> pd.DataFrame:
    x = np.arange(points, dtype=float)
    return pd.DataFrame({"panel": "a", "series": series, "x": x, "y": 0.2 + 0.01 * x, "y_err": 0.01})


def moved(table: pd.DataFrame, step: float, count: int = 1) -> pd.DataFrame:
    return table.assign(y=table["y"] + step * (table["x"] < count))


def test_what_is_said_to_be_trained_is_there() -> None:
    for file in GOLDEN.glob("*/trained.yaml"):
        paper, said = file.parent.name, trained(file.parent.name)
        assert said.keys() == {"figures", "single_runs", "experiments"}
        assert {name_target(paper, figure) for figure in said["figures"] | said["single_runs"]} <= set(read_figures())
        assert {f"{paper}/{name}" for name in said["experiments"]} <= set(resolve("smoke").experiments)


def test_exact_numbers_may_move_by_rounding_only() -> None:
    line = rows("sbpi").assign(y_err=0.0)
    for table, rounding in ((line, 1e-8), (rows("sbpi"), 1e-7)):
        assert difference("figure1", table, table) is None
        assert difference("figure1", table, moved(table, rounding)) is None
        found = difference("figure1", table, moved(table, 1e-4))
        assert found is not None and "1 moved; most:" in found and "sbpi" in found
        assert "1 rows lost" in str(difference("figure1", table, table[1:]))
        assert "1 new" in str(difference("figure1", table[1:], table))


@pytest.mark.parametrize(("target", "series"), [("figure1", "binarynet, solved"), ("figure6", "test error")])
def test_trained_numbers_may_move_within_their_errors(target: str, series: str) -> None:
    table = rows(series)
    assert difference(target, table, moved(table, 0.02, count=40)) is None
    assert difference(target, table, moved(table, 0.1, count=4)) is None
    assert "5 trained points of 40" in str(difference(target, table, moved(table, 0.1, count=5)))
    assert difference(target, table, table[4:]) is None
    assert "moved, were lost or are new" in str(difference(target, table, table[5:]))
    assert difference(target, table, table[:0]) is not None


def test_no_trained_series_may_be_lost_or_wrong_as_a_whole() -> None:
    table = pd.concat([rows("test error", 4), rows("train error", 96)], ignore_index=True)
    small = table["series"] == "test error"
    assert difference("figure6", table, table) is None
    assert "on one side only: a test error" in str(difference("figure6", table, table[~small]))
    assert "on one side only: a test error" in str(difference("figure6", table[~small], table))
    wrong = table.assign(y=table["y"].where(~small, 0.9))
    assert "a test error: most of its 4 points moved" in str(difference("figure6", table, wrong))
    assert difference("figure6", table, table.assign(y=table["y"] + 0.5 * (table.index < 2))) is None


def test_single_runs_may_move_but_not_vanish() -> None:
    means, runs = rows("elal"), rows("elal", 8).assign(panel="b")
    table = pd.concat([means, runs], ignore_index=True)
    assert difference("shaping_figure6", table, pd.concat([means, moved(runs, 0.5, count=8)])) is None
    assert "points of single runs" in str(difference("shaping_figure6", table, pd.concat([means, runs[1:]])))
    assert difference("shaping_figure6", table, pd.concat([moved(means, 0.1, count=8), runs])) is not None


def test_exact_numbers_beside_trained_ones_stay_exact() -> None:
    table = pd.concat([rows("sbpi"), rows("binarynet")], ignore_index=True)
    assert difference("figure2", table, table) is None
    assert difference("figure2", table, pd.concat([rows("sbpi"), moved(rows("binarynet"), 0.02)])) is None
    assert difference("figure2", table, pd.concat([moved(rows("sbpi"), 0.02), rows("binarynet")])) is not None


def test_verdicts_of_exact_claims_may_not_change() -> None:
    claims = read_claims()
    golden = pd.DataFrame({"id": list(claims), "verdict": "reproduced"})

    def changed(key: str) -> pd.DataFrame:
        return golden.assign(verdict=golden["verdict"].where(golden["id"] != key, "not reproduced"))

    assert verdict_differences(golden, golden, claims) == []
    assert verdict_differences(golden, changed("O01"), claims) == ["O01: reproduced → not reproduced"]
    assert verdict_differences(golden, changed("O50"), claims) == []
    assert verdict_differences(golden, golden[1:], claims) == ["O01: on one side only"]
    assert verdict_differences(golden[1:], golden, claims) == ["O01: on one side only"]


def test_the_golden_command_copies_numbers_and_verdicts(toys: Checkout) -> None:
    (toys.folder / "src/localentropy/claims/overparam/toy.py").write_text(CLAIMS)
    (toys.folder / "config/overparam/claims.yaml").write_text(ENTRIES)
    assert toys.snakemake("all", "scorecard", "--config", "scale=smoke").status == 0
    copied = toys.python("golden")
    assert copied.status == 0, copied.output
    names = [f"tests/golden/overparam/figure{number}.csv" for number in (91, 92, 93)]
    assert copied.output.split() == [*names, "tests/golden/overparam/verdicts.csv"]
    for name in names:
        source = name.replace("tests/golden", "figures/smoke")
        assert (toys.folder / name).read_bytes() == (toys.folder / source).read_bytes()
    verdicts = (toys.folder / "tests/golden/overparam/verdicts.csv").read_text()
    assert verdicts == "id,verdict\nT01,reproduced\nT02,not reproduced\n"
    assert toys.python("diff", "tests/golden", "figures/smoke").status == 0

    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text.replace("* 1", "* 3"))
    refused = toys.python("golden")
    assert refused.status == 1 and "figure91: missing; run" in refused.output
    assert toys.snakemake("all", "scorecard", "--config", "scale=smoke").status == 0
    found = toys.python("diff", "tests/golden", "figures/smoke")
    assert found.status == 1
    # The toys' figures have one series and no errors: every square of the first kind has moved.
    assert "overparam/figure91: 3 rows, 0 only in A, 0 only in B, 3 moved, 3 beyond" in found.output
    assert "overparam/figure92: 3 rows, 0 only in A, 0 only in B, 0 moved, 0 beyond" in found.output


def test_the_gallery_command_copies_all_or_what_is_named(made: Checkout) -> None:
    page = made.folder / "docs/overparam/gallery.md"
    absent = made.python("gallery", "figure91")
    assert absent.status == 1 and "docs/overparam/gallery.md: no such page" in absent.output
    page.parent.mkdir()
    page.write_text("<!-- figure91 -->old<!-- /figure91 --> <!-- figure92 -->old<!-- /figure92 -->")
    shutil.rmtree(made.folder / "results/figures/overparam/figure92")
    copied = made.python("gallery", "figure91")
    kinds = ("png", "pdf", "csv", "look.json", "json")
    assert copied.output.split() == [f"figures/gallery/overparam/figure91.{kind}" for kind in kinds]
    for file in copied.output.split()[:-1]:
        assert (made.folder / file).read_bytes() == (made.folder / file.replace("gallery", "default")).read_bytes()
    assert "<!-- figure91 -->old" not in page.read_text() and "<!-- figure92 -->old" in page.read_text()
    for refused, words in ((("figure91", "figure92"), "missing; run `make figure91 figure92"), ((), "missing; run")):
        assert words in made.python("gallery", *refused).output
    unknown = made.python("gallery", "figure9l")
    assert unknown.status == 1 and "figure9l: no such figure" in unknown.output and "figure91" in unknown.output


def test_a_copy_in_the_gallery_has_a_record_without_machine_and_time(made: Checkout) -> None:
    page = made.folder / "docs/overparam/gallery.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("<!-- figure91 -->old<!-- /figure91 -->")
    assert made.python("gallery", "figure91").status == 0
    copy, record = (made.folder / f"figures/gallery/overparam/figure91.{kind}" for kind in ("png", "json"))
    assert json.loads(record.read_text())["circumstances"] == {"command": ["snakemake", "figure91"]}
    assert str(made.folder) not in record.read_text()
    name = copy.relative_to(made.folder)
    shown = made.python("show", str(name))
    assert shown.status == 0 and f"{name}: part of figure91" in shown.output and "code hash" in shown.output
    (made.folder / "figures/default/overparam/figure91.png").unlink()
    absent = made.python("show", "figure91")
    assert absent.status == 1 and absent.output.endswith(f"`snakemake figure91` makes it; {name} is there\n")
    record.unlink()
    lost = made.python("show", str(name))
    assert lost.status == 1
    assert (
        lost.output == f"error: {name}: a copy without its record, figure91.json; `localentropy gallery` copies both\n"
    )


def test_the_gallery_command_copies_the_scorecards_and_their_counts(toys: Checkout) -> None:
    (toys.folder / "src/localentropy/claims/overparam/toy.py").write_text(CLAIMS)
    (toys.folder / "config/overparam/claims.yaml").write_text(ENTRIES)
    page = toys.folder / "docs/overparam/gallery.md"
    page.parent.mkdir()
    page.write_text("<!-- scorecard -->old<!-- /scorecard -->")
    assert toys.snakemake("scorecard").status == 0
    # The committed card of another paper, which is not renewed.
    card = toys.folder / "figures/gallery/margins/scorecard.csv"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("id,kind,paper,text,verdict\nM01,paper,margins,paper,reproduced\n")
    copied = toys.python("gallery", "overparam_scorecard")
    names = [f"figures/gallery/overparam/scorecard.{kind}" for kind in ("csv", "md")]
    record, whole = "figures/gallery/overparam/scorecard.json", "figures/gallery/scorecard.md"
    assert copied.status == 0 and copied.output.split() == [*names, record, whole], copied.output
    for asked in (names[1], "overparam_scorecard", "scorecard"):
        shown = toys.python("show", asked)
        assert shown.status == 0 and "  code hash  " in shown.output, shown.output
    for name in names:
        assert (toys.folder / name).read_bytes() == (toys.folder / name.replace("gallery", "default")).read_bytes()
    table = [line for line in (toys.folder / whole).read_text().splitlines() if line.startswith("| [")]
    assert table == [
        "| [overparam](overparam/scorecard.md) | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 0 |",
        "| [margins](margins/scorecard.md) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
    ]
    assert page.read_text() == f"<!-- scorecard -->{COUNTS}.<!-- /scorecard -->"
    assert "<!-- scorecard -->2 sentences of the papers: 2 reproduced, 0 not" in (toys.folder / "README.md").read_text()
