"""Training sets of committee machines as parameters, and those behind a table of solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Distinct,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    OddUnits,
    Section,
    TableOf,
    given,
    require_distinct_sizes,
    require_patterns,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from localentropy.instances.committee import Committee

Solutions = Annotated[str, TableOf("committee_solutions")]
"""An experiment of the program `committee_solutions`, whose table is read."""


class OfSolutions(ExperimentParameters):
    """Parameters of a program that reads a table of solutions."""

    solutions: Solutions = Field(description="the experiment whose solutions are taken")
    samples: int = given(quantities.RUNS, "the first samples of the solutions", size=True)


class OfAlgorithms(OfSolutions):
    """Parameters of a program that reads the solutions of some algorithms."""

    algorithms: Distinct[tuple[str, ...]] = Field(description="the algorithms, of those that the solutions have")


def check_algorithms(parameters: OfAlgorithms, sources: Mapping[str, Any]) -> None:
    """Refuse runs that the table of solutions will not have: `check_sources` of a program.

    Raises:
        ValueError: naming what there is.
    """
    made = sources[parameters.solutions]
    require_runs(parameters.solutions, made, parameters.samples, {"algorithms": parameters.algorithms})


class Problem(Section):
    """The training sets of one machine."""

    units: OddUnits = Field(description="hidden units K")

    def patterns(self) -> list[int]:
        """P, the numbers of patterns."""
        raise NotImplementedError

    def instance(self, P: int, sample: int, seed: int, data: Mapping[str, Path]) -> Committee:
        """The training set of a sample, under a root seed.

        Args:
            P: number of patterns.
            sample: its number.
            seed: root seed.
            data: prepared datasets.
        """
        raise NotImplementedError


class StoredPatterns(Section):
    """Sizes of independent random patterns with random labels."""

    units: OddUnits = Field(description="hidden units K")
    alphas: Increasing[LoadOfRuns] = Field(description="patterns per weight, α = P/N", json_schema_extra=SIZE)
    N: int = given(quantities.SIZE, "weights of all units", size=True)

    def patterns(self) -> list[int]:
        """The integers nearest to αN."""
        return [round(alpha * self.N) for alpha in self.alphas]

    @model_validator(mode="after")
    def _sizes(self) -> Self:
        if self.N % self.units:
            nearest = self.units * max(1, round(self.N / self.units))
            raise ValueError(f"N = {self.N} is not divisible by units = {self.units}; nearest: {nearest}")
        require_patterns("alphas:", self.alphas[0], "N", self.N)
        require_distinct_sizes("alphas", self.alphas, "P", lambda alpha: round(alpha * self.N))
        return self


class RandomPatterns(StoredPatterns, Problem):
    """Independent random patterns and labels. A sample is a training set, the same for all algorithms."""

    data: Literal["random"] = Field(description="the training set")
    machine: Literal["tree", "full"] = Field(description="whether units have inputs of their own, or all see all")

    def instance(self, P: int, sample: int, seed: int, data: Mapping[str, Path]) -> Committee:
        """A training set of its own for every sample."""
        from localentropy.instances import committee

        root = seeds.child(seed, "instance", sample=sample)
        if self.machine == "tree":
            return committee.random_tree_committee(self.N, P, self.units, seed=root)
        return committee.random_full_committee(self.N // self.units, P, self.units, seed=root)


def random_sizes(made: Mapping[str, Any]) -> tuple[int, int]:
    """N, and the largest P, of a table of solutions of random patterns; 0 for images.

    Args:
        made: the parameters of the experiment that makes the table.
    """
    N = made.get("N", 0)
    return N, round(max(made.get("alphas", [0.0])) * N)


class Images(Problem):
    """Dresses and coats, for a machine whose units see all pixels. A sample is a training set of its own."""

    data: Literal["dress_coat", "dress_coat_shuffled"] = Field(description="the training set")

    def patterns(self) -> list[int]:
        """Of a training set."""
        from localentropy.data.dress_coat import PER_CLASS

        return [2 * PER_CLASS]

    def instance(self, P: int, sample: int, seed: int, data: Mapping[str, Path]) -> Committee:
        """A training set of its own for every sample."""
        from localentropy.data.prepared import load
        from localentropy.instances.committee import dress_coat_committee

        number, shuffled = seeds.child(seed, "instance", sample=sample), self.data == "dress_coat_shuffled"
        return dress_coat_committee(load(data["dress_coat"]), self.units, number=number, shuffled=shuffled)


def require_runs(solutions: str, made: Any, samples: int, algorithms: Mapping[str, Iterable[str]]) -> None:
    """Refuse samples and algorithms that a table of solutions will not have.

    Args:
        solutions: the experiment.
        made: its parameters.
        samples: that are read.
        algorithms: key of the configuration → the algorithms that it names.

    Raises:
        ValueError: naming what there is.
    """
    if samples > made.samples:
        raise ValueError(
            f"samples = {samples}: {solutions} has {made.samples}; allowed: an integer ≥ 1 and ≤ {made.samples}"
        )
    for key, names in algorithms.items():
        for name in names:
            if name not in made.algorithms:
                there = ", ".join(made.algorithms)
                raise ValueError(f"{key}: {name}: {solutions} has no such runs; allowed: {there}")


def runs_of(context: Context, solutions: str, samples: int, algorithm: str | None = None) -> pd.DataFrame:
    """The first runs of each algorithm in a table of solutions, solved or not.

    Args:
        context: of the task.
        solutions: the experiment.
        samples: take the samples below this number.
        algorithm: only its runs; None takes all.
    """
    table = context.tables[solutions]
    chosen = table[table["sample"] < samples]
    return chosen if algorithm is None else chosen[chosen["algorithm"] == algorithm]


def problem_and_weights(context: Context, solutions: str, run: Any) -> tuple[Committee, np.ndarray]:
    """The training set of a run, and the weights that it ended with, [K, inputs_per_unit].

    Args:
        context: of the task.
        solutions: the experiment.
        run: a row of its table.
    """
    import numpy as np

    values = context.tables[solutions].attrs["parameters"]
    model: type[Problem] = RandomPatterns if values["data"] == "random" else Images
    problem = model.model_validate({name: values[name] for name in model.model_fields})
    instance = problem.instance(run.P, run.sample, values["seed"], context.data)
    return instance, np.asarray(run.weights, np.float64).reshape(instance.units, -1)
