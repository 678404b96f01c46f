"""Experiments that read the tables of other experiments, with the real Snakemake."""

from __future__ import annotations

import os
import shutil

import pytest

from localentropy.pipeline import artifacts
from tests.pipeline.conftest import Checkout
from tests.pipeline.test_reruns import KERNEL, drawing, jobs

pytestmark = pytest.mark.pipeline

PROGRAM = '''
"""Sums of squares of other experiments."""

from typing import Annotated

import pandas as pd
from pydantic import Field

from localentropy.programs.parts.parameters import SIZE, ExperimentParameters, TableOf


class Parameters(ExperimentParameters):
    squares: Annotated[str, TableOf("{reads}")] = Field(description="an experiment")
    points: int = Field(ge=1, description="a size", json_schema_extra=SIZE)


def tasks(parameters):
    return [{{"point": point}} for point in range(parameters.points)]


def compute(parameters, task, context):
    rows = context.tables[parameters.squares]
    return pd.DataFrame({{"x": [task["point"]], "y": [rows["y"].sum() + task["point"]]}})
'''
"""Its task k adds k to the sum of the other experiment's numbers."""

SUMS = jobs("sum") | jobs("total") | drawing(94)


def write_sums(toys: Checkout) -> None:
    """Two more experiments and a figure: toy_a → toy_sum → toy_total → figure 94."""
    for name, reads in (("sum", "toy_a"), ("total", "toy_sum")):
        program = toys.folder / f"src/localentropy/programs/overparam/toy_{name}.py"
        program.write_text(PROGRAM.format(reads=reads))
    shutil.copy(*(toys.folder / f"src/localentropy/figures/overparam/figure{number}.py" for number in (91, 94)))
    figure = "figure94: {shows: sums, experiments: [overparam/toy_total]}\n"
    toys.edit("config/overparam/figures.yaml", lambda text: text + figure)
    sections = "toy_total: {squares: overparam/toy_sum}\ntoy_sum: {squares: overparam/toy_a}\n"
    toys.edit("config/overparam/physics.yaml", lambda text: text + sections)
    sizes = "".join(f"toy_{name}: {{points: 2, chunks: 2, threads: 1}}\n" for name in ("total", "sum"))
    toys.edit("config/overparam/sizes.yaml", lambda text: text + sizes)


@pytest.fixture
def sums(toys: Checkout) -> Checkout:
    write_sums(toys)
    return toys


@pytest.fixture
def summed(made: Checkout) -> Checkout:
    """The sums beside the small figures that are made."""
    write_sums(made)
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert run.did == SUMS, run.output
    return made


def numbers(checkout: Checkout, name: str) -> list[float]:
    return list(artifacts.read_table(checkout.table(name)).rows["y"])


def test_tables_are_read_in_their_order_and_an_edit_reruns_what_is_made_from_it(summed: Checkout) -> None:
    squares = numbers(summed, "toy_a")
    assert squares == [1.0, 4.0, 9.0, 16.0, 25.0]
    assert numbers(summed, "toy_sum") == [55.0, 56.0] and numbers(summed, "toy_total") == [111.0, 112.0]
    assert summed.snakemake("all").did == set()
    verified = summed.python("verify")
    part = summed.table("toy_sum", "1-of-2").relative_to(summed.folder)
    assert verified.status == 0 and f"{part}: current" in verified.output, verified.output
    shown = summed.python("show", "overparam/toy_total")
    assert '"overparam/toy_sum": {' in shown.output and '"overparam/toy_a": {"offset": 1.0' in shown.output
    assert summed.python("dag", "dag.svg").status == 0
    assert "overparam/toy_total" in (summed.folder / "dag.svg").read_text()

    # A parameter of the first table: all that is made from it, and nothing else. A dry run plans the same.
    summed.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_a: {offset: 1", "toy_a: {offset: 2"))
    stale = summed.python("verify")
    for number in (91, 93, 94):
        assert f"figure{number}.png: made from other tables or datasets" in stale.output
    plan = summed.snakemake("-n", "figure91", "figure92", "figure93", "figure94")
    assert plan.did == jobs("a") | drawing(91, 93) | SUMS, plan.output
    run = summed.snakemake("all")
    assert run.did == plan.did, run.output
    assert numbers(summed, "toy_total") == [2 * 90.0 + 1, 2 * 90.0 + 2]

    # Its code: the same. The code of the last one: only that.
    summed.edit(KERNEL, lambda text: text.replace("* 1", "* 3"))
    assert summed.snakemake("all").did == jobs("a") | drawing(91, 93) | SUMS
    last = "src/localentropy/programs/overparam/toy_total.py"
    summed.edit(last, lambda text: text.replace('+ task["point"]', '- task["point"]'))
    assert summed.snakemake("all").did == jobs("total") | drawing(94)
    assert numbers(summed, "toy_total") == [6 * 90.0 + 1, 6 * 90.0]
    assert summed.snakemake("all").did == set()


def test_a_run_that_ended_between_two_tables_is_completed(summed: Checkout) -> None:
    summed.edit(KERNEL, lambda text: text.replace("* 1", "* 2"))
    assert summed.snakemake("overparam/toy_a").did == jobs("a")
    run = summed.snakemake("figure94")
    assert run.did == SUMS, run.output
    summed.table("toy_total").unlink()
    shutil.rmtree(summed.folder / "results/figures/overparam/figure94")
    assert summed.snakemake("figure94").did == {"joining the parts of overparam/toy_total"} | drawing(94)


def test_parts_are_joined_also_when_what_they_were_made_from_is_gone(summed: Checkout) -> None:
    total = summed.table("toy_total")
    whole = total.read_bytes()
    for gone in (total, summed.table("toy_sum")):
        gone.unlink()
    shutil.rmtree(summed.folder / "results/figures/overparam/figure94")
    run = summed.snakemake("figure94")
    assert run.status == 0 and run.did == {"joining the parts of overparam/toy_total"} | drawing(94), run.output
    assert total.read_bytes() == whole
    assert summed.snakemake("overparam/toy_sum", "figure94").status == 0
    assert summed.python("verify").status == 0


@pytest.mark.parametrize("damage", ["flip", "pipe", "swap"])
def test_a_damaged_table_two_steps_before_a_figure_is_deleted_and_made_again_when_it_is_needed(
    summed: Checkout, damage: str
) -> None:
    good = summed.contents("figures/default/**/*") | summed.tables()
    table = summed.table("toy_sum")
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 4
    table.unlink()
    if damage == "pipe":
        os.mkfifo(table)
    else:
        table.write_bytes(content if damage == "flip" else summed.table("toy_total").read_bytes())
    # What was made from it while it was whole is right, and is kept.
    plan = summed.snakemake("-n", "figure94")
    assert plan.did == set() and plan.outdated == {str(table.relative_to(summed.folder))}, plan.output
    run = summed.snakemake("figure94")
    assert run.status == 0 and run.did == set() and run.outdated == plan.outdated, run.output
    assert not os.path.lexists(table)
    # A new table that is made from it needs it.
    last = "src/localentropy/programs/overparam/toy_total.py"
    summed.edit(last, lambda text: text.replace('+ task["point"]', '+ 1.0 * task["point"]'))
    run = summed.snakemake("figure94")
    assert run.status == 0, run.output
    assert run.did == {"joining the parts of overparam/toy_sum"} | jobs("total") | drawing(94), run.output
    after = summed.contents("figures/default/**/*.csv") | summed.tables()
    assert {name for name in good if name in after and after[name] != good[name]} == set()
    assert table.read_bytes() == good[str(table.relative_to(summed.folder))]


def test_the_steps_run_without_snakemake_and_refuse_missing_and_stale_tables(sums: Checkout) -> None:
    refused = sums.python("run", "overparam/toy_sum", "--scale", "smoke")
    assert refused.status == 1 and refused.output.count("\n") == 1
    assert refused.output.endswith(
        ".parquet: no such table; run `python -m localentropy run overparam/toy_a --config scale=smoke` first\n"
    )
    for name in ("toy_a", "toy_sum", "toy_total"):
        assert sums.python("run", f"overparam/{name}", "--scale", "smoke").status == 0
    assert sums.python("plot", "figure94", "--scale", "smoke").status == 0
    assert numbers(sums, "toy_total") == [29.0, 30.0]
    assert sums.snakemake("figure94", "--config", "scale=smoke").did == set()
    sums.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_a: {offset: 1", "toy_a: {offset: 5"))
    stale = sums.python("run", "overparam/toy_sum", "--scale", "smoke")
    assert stale.status == 1 and stale.output.endswith(
        ".parquet: no such table; run `python -m localentropy run overparam/toy_a --config scale=smoke` first\n"
    )


def test_committed_tables_serve_the_parameters_of_the_tables_behind_them(sums: Checkout) -> None:
    assert sums.snakemake("figure94", "--config", "scale=paper").status == 0
    committed, results = (sums.folder / part / "overparam" for part in ("data/tables", "results"))
    tables = {name: sums.table(name) for name in ("toy_a", "toy_total")}

    def commit(name: str) -> None:
        (committed / name).mkdir(parents=True)
        for suffix in (".parquet", ".json"):
            shutil.copy(tables[name].with_suffix(suffix), (committed / name / "paper").with_suffix(suffix))

    # The first one alone, whose code was edited since: what is made from it is computed from the committed table.
    commit("toy_a")
    before = results.with_name("before")
    shutil.move(results, before)
    shutil.rmtree(sums.folder / "results/figures")
    sums.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    run = sums.snakemake("figure94", "--config", "scale=paper")
    assert run.did == SUMS, run.output
    assert numbers(sums, "toy_total") == [281.0, 282.0]
    assert sums.python("verify", "--scale", "paper").status == 0
    assert sums.snakemake("figure94", "--config", "scale=paper").did == set()

    # The last one alone serves too, unless a parameter of the first one changes.
    shutil.rmtree(committed / "toy_a")
    tables["toy_total"] = before / tables["toy_total"].relative_to(results)
    commit("toy_total")
    shutil.rmtree(sums.folder / "results")
    assert sums.snakemake("figure94", "--config", "scale=paper").did == drawing(94)
    run = sums.snakemake("figure94", "--config", "scale=paper", "run=other", "toy_a={offset: 2}")
    assert run.did == jobs("a") | SUMS, run.output


UNKNOWN = "no experiment of the program toy_a; did you mean 'overparam/toy_a'? allowed: overparam/toy_a"


@pytest.mark.parametrize(
    ("value", "message"),
    [("overparam/toy_aa", UNKNOWN), ("overparam/toy_b", UNKNOWN), ("toy_a", UNKNOWN), ("3", "allowed: text")],
)
def test_a_wrong_name_is_refused_in_one_line(sums: Checkout, value: str, message: str) -> None:
    refused = sums.python("run", "overparam/toy_sum", "--config", f"toy_sum.squares={value}")
    assert refused.status == 1 and refused.output == f"error: --config: toy_sum.squares = {value}: {message}\n"


def test_a_circle_is_refused_in_one_line(sums: Checkout) -> None:
    program = "src/localentropy/programs/overparam/toy_sum.py"
    sums.edit(program, lambda text: text.replace('TableOf("toy_a")', 'TableOf("toy_total")'))
    sums.edit("config/overparam/physics.yaml", lambda text: text.replace("overparam/toy_a", "overparam/toy_total"))
    refused = sums.snakemake("figure94")
    circle = "overparam/toy_total ← overparam/toy_sum ← overparam/toy_total"
    where = "config/overparam/physics.yaml: toy_sum.squares = overparam/toy_total"
    assert refused.status == 1
    assert f"error: {where}: experiments read each other in a circle: {circle}\n" in refused.output, refused.output


def test_a_section_that_nothing_reads_is_refused(sums: Checkout) -> None:
    sums.edit("config/overparam/figures.yaml", lambda text: text.replace("overparam/toy_total", "overparam/toy_b"))
    refused = sums.python("run", "overparam/toy_a")
    assert refused.status == 1 and refused.output.count("\n") == 1
    assert refused.output.startswith("error: config/overparam/physics.yaml: toy_total: unknown key;"), refused.output
