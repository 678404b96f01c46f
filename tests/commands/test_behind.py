"""The theory that the code of a figure cites."""

from __future__ import annotations

from localentropy.commands.behind import theory_of
from localentropy.pipeline.config import resolve

WITHOUT = {"figure6", "figure7", "figure14", "margins_figure8", "shaping_s3", "shaping_s5"}
"""Figures of trained networks, of noisy pixels and of annealing: no page has theory of them."""


def test_figures_lead_to_the_theory_that_their_code_cites() -> None:
    configuration = resolve()
    found = {target: theory_of(target, configuration) for target in configuration.figures}
    assert {target for target, sections in found.items() if not sections} == WITHOUT
    committee = {title: equations for paper, title, equations in found["glm_committee"] if paper == "glm"}
    # The program takes these from modules that it imports as a whole.
    assert {"20", "21"} <= set(committee["2. Committee machine"])
    assert any(paper == "shaping" and "B.7" in equations for paper, _, equations in found["figure5"])
