"""Large tables that come with the repository: used where they match, named among the settings."""

from __future__ import annotations

import json
import shutil

import pytest

from localentropy.pipeline.computations import COMMITTED, ExperimentJob
from localentropy.pipeline.config import resolve
from tests.pipeline.conftest import Checkout

pytestmark = pytest.mark.pipeline


def test_every_committed_table_serves_the_scale_of_its_name() -> None:
    """Without it, another value in the sizes would bring back hours of computing without a word."""
    files = sorted(COMMITTED.glob("*/*/*.parquet"))
    assert files
    for file in files:
        job = ExperimentJob.from_configuration(resolve(file.stem), file.parent.relative_to(COMMITTED).as_posix())
        assert job.committed is not None and job.committed[0] == file


def taken(toys: Checkout, folder: str) -> dict[str, str]:
    """Which tables the figure's record says are not computed here."""
    record = json.loads((toys.folder / f"figures/{folder}/overparam/figure91.json").read_text())
    return {name: value for name, value in record["settings"].items() if name.startswith("not computed here")}


def test_a_committed_table_serves_the_parameters_that_it_was_made_from(toys: Checkout) -> None:
    first = toys.snakemake("figure91", "--config", "scale=paper")
    assert first.status == 0, first.output
    assert taken(toys, "paper") == {}
    committed = toys.folder / "data/tables/overparam/toy_a"
    committed.mkdir(parents=True)
    for suffix in (".parquet", ".json"):
        shutil.copy(toys.table("toy_a").with_suffix(suffix), (committed / "paper").with_suffix(suffix))
    drawn = toys.contents("figures/paper/overparam/*.csv")
    for name in ("results", "figures"):
        shutil.rmtree(toys.folder / name)

    # Code may have changed since it was made, and it is what is drawn: nothing is computed.
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text.replace("* 1", "* 5"))
    run = toys.snakemake("figure91", "--config", "scale=paper")
    assert run.did == {"drawing figure91"}, run.output
    assert toys.contents("figures/paper/overparam/*.csv") == drawn
    ((name, value),) = taken(toys, "paper").items()
    assert name == "not computed here but taken from data/tables"
    assert value.startswith("overparam/toy_a (made on 20")
    assert toys.snakemake("figure91", "--config", "scale=paper").did == set()
    assert toys.python("verify", "--scale", "paper").status == 0

    # Other parameters are computed.
    run = toys.snakemake("figure91", "--config", "scale=paper", "run=other", "toy_a={offset: 9}")
    assert len(run.did) == 4, run.output
    assert taken(toys, "paper-other") == {}

    # A damaged table is named in one line and not used: the figure is made from what is computed.
    whole = (committed / "paper.parquet").read_bytes()
    (committed / "paper.parquet").write_bytes(whole[:-20])
    run = toys.snakemake("figure91", "--config", "scale=paper")
    assert "paper.parquet: not a readable result table" in run.output
    assert len(run.did) == 4, run.output
    assert taken(toys, "paper") == {}

    # A whole one can be left aside, too.
    (committed / "paper.parquet").write_bytes(whole)
    assert toys.snakemake("figure91", "--config", "scale=paper", "data.committed=false").did == set()
    assert taken(toys, "paper-data.committed=false") == {}
