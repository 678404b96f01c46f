"""A paper's scorecard: every claim of `config/<paper>/claims.yaml` with our number; one page over all papers."""

from __future__ import annotations

import importlib
import inspect
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from localentropy import closure
from localentropy.claims.claim import Claim
from localentropy.errors import ConfigError
from localentropy.pipeline.config import Configuration, override_words, read_text, require_known
from localentropy.pipeline.outputs import OutputJob, Rendered, lacking

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.claims.conditions import Finding

SUMMARY = "scorecard"
"""Target of the page over all scorecards; a paper's own is `<paper>_scorecard`."""


def tested_papers(configuration: Configuration) -> list[str]:
    """The papers that have claims."""
    return list(dict.fromkeys(claim.paper for claim in configuration.claims.values()))


class ScorecardJob(OutputJob):
    """The scorecard of one paper.

    Attributes:
        claims: identifier → the claim's entry in `config/<paper>/claims.yaml`.
        text: what their sentences are from, `paper` or `talk`.
    """

    claims: dict[str, dict[str, Any]]
    text: str

    SUFFIXES: ClassVar = (".csv", ".md", ".html")

    @classmethod
    def from_configuration(cls, configuration: Configuration, paper: str) -> ScorecardJob:
        """The job of one paper of a resolved configuration.

        Raises:
            ConfigError: there is no such paper, or it has no claims.
        """
        require_known(paper, tested_papers(configuration), "paper with claims")
        claims = {key: claim for key, claim in configuration.claims.items() if claim.paper == paper}
        names = dict.fromkeys(name for claim in claims.values() for name in claim.arguments.values())
        dumped = {key: claim.model_dump(mode="json", exclude={"evidence"}) for key, claim in claims.items()}
        return cls.from_experiments(configuration, f"{paper}_{SUMMARY}", names, claims=dumped, text=read_text(paper))

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.target.partition("_")[0]

    @classmethod
    def place(cls, target: str) -> Path:
        """In the folder of the paper."""
        return Path(target.partition("_")[0], SUMMARY)

    @property
    def modules(self) -> list[str]:
        """The claims' modules, and the one that sets the table."""
        tests = {"localentropy.claims." + claim["test"].rpartition(".")[0] for claim in self.claims.values()}
        return ["localentropy.claims.rendering", *sorted(tests)]

    @property
    def parameters(self) -> dict[str, Any]:
        """The scale, the claims and what they are from."""
        return {"scale": self.scale, "claims": self.claims, "text": self.text}

    def render(self, tables: Mapping[str, pd.DataFrame]) -> Rendered:
        """The three files."""
        from localentropy.claims import rendering

        claims = {key: Claim.model_validate(claim) for key, claim in self.claims.items()}
        findings = {key: assess(key, claim, tables) for key, claim in claims.items()}
        written = rendering.table(claims, findings, self.scale, self.text).to_csv(index=False, float_format="%.10g")
        card = rendering.read_table(io.StringIO(written))  # every page shows the digits of the CSV
        contents = {
            ".csv": written.encode(),
            ".md": rendering.markdown(card, self.paper, self.scale).encode(),
            ".html": rendering.html(card, self.paper, self.scale, closure.code_hash(*self.modules)).encode(),
        }
        counts = rendering.counts(card)
        return Rendered(contents, f"Scorecard of {self.paper} at scale {self.scale}. {counts}", counts)


class SummaryJob(OutputJob):
    """One page over all scorecards.

    Attributes:
        cards: paper → CSV of its scorecard.
    """

    cards: dict[str, str]

    SUFFIXES: ClassVar = (".md", ".html")

    @classmethod
    def from_configuration(cls, configuration: Configuration) -> SummaryJob:
        """The job of a resolved configuration."""
        jobs = [ScorecardJob.from_configuration(configuration, paper) for paper in tested_papers(configuration)]
        return cls.at_origin(
            target=SUMMARY,
            scale=configuration.scale,
            folder=configuration.folder,
            overrides=override_words(configuration),
            tables={},
            origins={f"{job.paper} scorecard": job.origin for job in jobs},
            cards={job.paper: str(job.files()[0]) for job in jobs},
        )

    @classmethod
    def place(cls, target: str) -> Path:
        """Beside the papers' folders."""
        return Path(target)

    @property
    def modules(self) -> list[str]:
        """The module that sets the page."""
        return ["localentropy.claims.rendering"]

    @property
    def inputs(self) -> dict[str, Path]:
        """The scorecards."""
        return {paper: Path(file) for paper, file in self.cards.items()}

    def render(self, tables: Mapping[str, pd.DataFrame]) -> Rendered:
        """The two files."""
        import pandas as pd

        from localentropy.claims import rendering

        cards = {paper: pd.read_csv(file, keep_default_na=False) for paper, file in self.inputs.items()}
        card = pd.concat(cards.values())
        contents = {
            ".md": rendering.summary_markdown(cards, self.scale).encode(),
            ".html": rendering.summary_html(cards, self.scale).encode(),
        }
        counts = rendering.counts(card)
        return Rendered(contents, f"Scorecards at scale {self.scale}. {counts}", counts)


def assess(key: str, claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Finding:
    """The finding of one claim's test.

    Args:
        key: identifier of the claim.
        claim: its entry.
        tables: `<paper>/<name>` → rows.

    Raises:
        ConfigError: there is no such test, or it takes other tables than the claim names.
        ArtifactError: the tables lack what it is about.
    """
    from localentropy.claims.conditions import MAY_BE_MISSING, Untestable, all_of, require, undecided

    module, _, name = claim.test.rpartition(".")
    where = f"config/{claim.paper}/claims.yaml: {key}"
    try:
        test = getattr(importlib.import_module(f"localentropy.claims.{module}"), name, None)
    except ModuleNotFoundError:
        test = None
    if not inspect.isfunction(test):
        raise ConfigError(f"{where}.test = {claim.test}: no such function below localentropy.claims")
    wanted = list(inspect.signature(test).parameters)
    if set(wanted) != set(claim.arguments):
        raise ConfigError(f"{where}.experiments = {', '.join(claim.arguments.values())}: allowed: {', '.join(wanted)}")
    try:
        for experiment in claim.arguments.values():
            table = tables[experiment]
            require(not table.empty, f"no rows of {experiment}")
            if {"quantity", "value"} <= set(table):
                lacks = table.loc[table["value"].isna() & ~table["quantity"].isin(MAY_BE_MISSING), "quantity"]
                require(lacks.empty, f"a number is missing: {' '.join(lacks[:1])} of {experiment}")
        with lacking(f"{where}: cannot be tested on these tables"):
            finding: Finding = test(**{argument: tables[name] for argument, name in claim.arguments.items()})
    except Untestable as reason:
        return all_of(undecided(name.replace("_", " "), "not judged"), detail=str(reason))
    return finding
