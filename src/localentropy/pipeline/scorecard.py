"""The scorecard: every claim of `config/claims.yaml`, our number and the verdict, as CSV, Markdown and HTML."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localentropy import closure
from localentropy.errors import ConfigError
from localentropy.pipeline.config import Claim, Configuration
from localentropy.pipeline.outputs import FIGURES, OutputJob

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.claims.finding import Finding

TARGET = "scorecard"


@dataclass(frozen=True)
class ScorecardJob(OutputJob):
    """The scorecard of a configuration.

    Attributes:
        claims: identifier → the claim's entry in `config/claims.yaml`.
    """

    claims: dict[str, dict[str, Any]]

    SUFFIXES = (".csv", ".md", ".html")

    @classmethod
    def from_configuration(cls, configuration: Configuration, target: str = TARGET) -> ScorecardJob:
        """The job of a resolved configuration."""
        claims = {key: claim.model_dump(mode="json") for key, claim in configuration.claims.items()}
        names = dict.fromkeys(name for claim in configuration.claims.values() for name in claim.experiments)
        return cls.from_experiments(configuration, target, names, claims=claims)

    @property
    def stem(self) -> Path:
        """Where it lies, without suffix."""
        return FIGURES / self.folder / self.target

    @property
    def modules(self) -> list[str]:
        """The claims' modules, and the one that sets the table."""
        tests = {"localentropy.claims." + claim["test"].rpartition(".")[0] for claim in self.claims.values()}
        return ["localentropy.claims.rendering", *sorted(tests)]

    @property
    def parameters(self) -> dict[str, Any]:
        """The scale and the claims."""
        return {"scale": self.scale, "claims": self.claims}

    def render(self, tables: Mapping[str, pd.DataFrame]) -> tuple[dict[str, bytes], str, str]:
        """The three files."""
        from localentropy.claims import rendering

        claims = {key: Claim.model_validate(claim) for key, claim in self.claims.items()}
        findings = {key: assess(key, claim, tables) for key, claim in claims.items()}
        card = rendering.table(claims, findings, self.scale)
        contents = {
            ".csv": card.to_csv(index=False, float_format="%.10g").encode(),
            ".md": rendering.markdown(card, self.scale).encode(),
            ".html": rendering.html(card, self.scale, closure.code_hash(*self.modules)).encode(),
        }
        return contents, f"Scorecard at scale {self.scale}. {rendering.counts(card)}", rendering.counts(card)


def assess(key: str, claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Finding:
    """The finding of one claim's test.

    Args:
        key: identifier of the claim.
        claim: its entry.
        tables: `<paper>/<name>` → rows.

    Raises:
        ConfigError: there is no such test, or it takes other tables than the claim names.
    """
    from localentropy.claims.finding import Finding, Untestable

    module, _, name = claim.test.rpartition(".")
    where = f"config/claims.yaml: {key}"
    try:
        test = getattr(importlib.import_module(f"localentropy.claims.{module}"), name, None)
    except ModuleNotFoundError:
        test = None
    if not inspect.isfunction(test):
        raise ConfigError(f"{where}.test = {claim.test}: no such function below localentropy.claims")
    arguments = {experiment.partition("/")[2]: tables[experiment] for experiment in claim.experiments}
    wanted = list(inspect.signature(test).parameters)
    if set(wanted) != set(arguments):
        raise ConfigError(f"{where}.experiments = {', '.join(claim.experiments)}: allowed: {', '.join(wanted)}")
    try:
        for experiment in claim.experiments:
            if tables[experiment].empty:
                raise Untestable(f"no rows of {experiment}")
        finding: Finding = test(**arguments)
    except Untestable as reason:
        return Finding.untestable(str(inspect.getdoc(test)).splitlines()[0], str(reason))
    return finding
