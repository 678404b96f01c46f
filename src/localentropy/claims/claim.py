"""What a paper says, or a check that we add, as an entry of the configuration."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Kind(StrEnum):
    """Who says what a claim says. They are counted apart."""

    PAPER = "paper"
    OURS = "ours"


class Claim(BaseModel):
    """One entry of `config/<paper>/claims.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str = Field(min_length=1, description="what is claimed, in one sentence of our own")
    source: str = Field(min_length=1, description="where the paper says so, or what a check of ours is beside")
    kind: Kind = Field(
        description="paper: a sentence of the text and nothing stricter; ours: a condition, baseline or number we add"
    )
    printed: str | None = Field(default=None, description="the number that the paper prints, where it prints one")
    test: str = Field(
        pattern=r"^[a-z]+\.[a-z0-9_]+\.[a-z0-9_]+$",
        description="<paper>.<module>.<function> below localentropy.claims, which turns the tables into a finding",
    )
    experiments: tuple[str, ...] | dict[str, str] = Field(
        min_length=1,
        description="the experiments whose tables it is tested on: a list of <paper>/<name>, or a mapping from the "
        "function's arguments to them where an argument is not <name>",
    )

    evidence: str | None = Field(
        default=None,
        description="what is independent of the test and speaks for its verdict, in words, without numbers of our "
        "tables; claims whose numbers do so are named in brackets, such as (S02)",
    )

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.test.partition(".")[0]

    @property
    def arguments(self) -> dict[str, str]:
        """Argument of the test → the experiment `<paper>/<name>` whose table it gets."""
        if isinstance(self.experiments, dict):
            return self.experiments
        return {name.partition("/")[2]: name for name in self.experiments}
