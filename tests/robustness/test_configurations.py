"""Mutated configurations through the real Snakemake: a plan, or one line."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.conftest import Checkout
from tests.pipeline.test_config_mutations import SHIPPED, many, mutated_texts, mutated_trees
from tests.robustness.conftest import Pipeline

pytestmark = pytest.mark.slow

MUTANTS = [
    *(
        st.tuples(st.just(name), mutated_trees(yaml.safe_load(text)).map(yaml.safe_dump))
        for name, text in SHIPPED.items()
    ),
    *(st.tuples(st.just(name), mutated_texts(text)) for name, text in SHIPPED.items()),
    st.tuples(
        st.just("mine.yaml"),
        mutated_trees(yaml.safe_load(SHIPPED["config/overparam/physics.yaml"])).map(yaml.safe_dump),
    ),
]


@many(20)
@given(change=st.one_of(MUTANTS))
def test_twenty_mutated_configurations_through_snakemake(pristine: Pipeline, change: tuple[str, str]) -> None:
    name, text = change
    file = pristine.folder / name
    file.write_text(text, encoding="utf-8")
    own = ("--configfile", name) if name == "mine.yaml" else ()
    try:
        run = Checkout(pristine.folder).snakemake("-n", "all", *own, "--config", "scale=smoke")
    finally:
        if name in SHIPPED:
            file.write_text(SHIPPED[name], encoding="utf-8")
    assert "Traceback" not in run.output, run.output
    lines = run.own_lines
    assert run.status == 0 or (len(lines) == 1 and lines[0].startswith("error: ")), run.output
