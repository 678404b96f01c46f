"""What a figure of the site leads to: the theory that its code cites, and the claims that are about it."""

from __future__ import annotations

import pytest

from localentropy.commands.behind import configured, figures_of, theory_of

WITHOUT = {"figure6", "figure7", "figure14", "margins_figure8", "shaping_s3", "shaping_s5"}
"""Figures of trained networks, of noisy pixels and of annealing: no page has theory of them."""


def test_figures_lead_to_the_theory_that_their_code_cites() -> None:
    configuration = configured()
    found = {target: theory_of(target, configuration) for target in configuration.figures}
    assert {target for target, sections in found.items() if not sections} == WITHOUT
    committee = {title: equations for paper, title, equations in found["glm_committee"] if paper == "glm"}
    # The program takes these from modules that it imports as a whole.
    assert {"20", "21"} <= set(committee["2. Committee machine"])
    assert any(paper == "shaping" and "B.7" in equations for paper, _, equations in found["figure5"])


@pytest.mark.parametrize(
    ("key", "targets"),
    [
        ("O13", ["figure9"]),  # draws no table of the claim
        ("O21", ["figure4"]),
        ("O41", ["figure2", "figure9"]),
        ("M10", ["margins_figure6", "margins_figure7"]),
        ("S22", ["shaping_s3"]),
        ("O01", ["figure1"]),
    ],
)
def test_a_claim_leads_to_the_figures_that_its_source_names(key: str, targets: list[str]) -> None:
    assert figures_of(configured().claims[key], configured()) == targets


def test_a_claim_without_a_figure_leads_to_those_that_draw_its_tables() -> None:
    figures = configured().figures
    claims = [claim for claim in configured().claims.values() if "figure" not in claim.source]
    shared = [
        {*claim.arguments.values()}.intersection(figures[target].experiments)
        for claim in claims
        for target in figures_of(claim, configured())
    ]
    assert len(shared) > 20 and all(shared)


@pytest.mark.parametrize(
    ("target", "equations"), [("figure1", {"9", "27"}), ("figure4", {"9", "27"}), ("figure3", {"27"})]
)
def test_the_theory_of_a_figure_has_the_equations_of_its_paper(target: str, equations: set[str]) -> None:
    cited = {
        number for paper, _, numbers in theory_of(target, configured()) for number in numbers if paper == "overparam"
    }
    assert equations <= cited
