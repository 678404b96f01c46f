"""Every number of the theory's models at twice the nodes of every quadrature, at random points of their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.numerics import channels, priors
from localentropy.numerics.channels import Door, Linear
from localentropy.numerics.priors import GaussBernoulli, TwoGaussians
from localentropy.numerics.quadrature import gaussian_nodes, unit_legendre
from localentropy.quantities import ALPHA_OF_MINIMIZERS, GAMMA, INPUTS_PER_FEATURE, SAMPLES
from localentropy.theory import (
    Model,
    Perceptron,
    RandomFeatures,
    Spherical,
    TeacherStudent,
    TreeCommittee,
    bayes,
    committee,
    committee_channel,
    cross_entropy,
    energies,
    erm,
    gibbs,
    hidden_manifold,
    kappa_max,
    losses,
    many_features_limit,
    pair_energy,
    patterns,
    sites,
    spherical_tree,
    stabilities,
    tree_patterns,
    typical,
    typical_solutions,
)

CACHED = (bayes, committee, cross_entropy, gibbs, spherical_tree, typical_solutions)
NOT_COMPARED = {"residual"}
ERRORS_OF_SOLVES = 1e-8
"""Relative, of what a solve stops at: the last step of Newton's method, or a loss that vanishes.

Rounding may keep the steps longer. An answer says so by its residual, the length of the last step in the logarithms of
β and q̂, and q̂ is proportional to β².
"""
LARGEST_RESIDUAL = 1e-7


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Doubles the nodes of all quadratures when it is called."""

    def double() -> None:
        def half(module: Any, name: str, source: Any, spacing: float) -> None:
            monkeypatch.setattr(module, name, partial(getattr(source, name), spacing=0.5 * spacing))

        half(energies, "hard_margin", patterns, patterns.SPACING)
        half(many_features_limit, "hard_margin", patterns, patterns.SPACING)
        half(energies, "cross_entropy", patterns, patterns.SPACING)
        half(cross_entropy, "cross_entropy_error", patterns, patterns.SPACING)
        half(sites, "binary", sites, sites.SPACING)
        for module in (channels, committee_channel, gibbs, priors, stabilities):
            monkeypatch.setattr(
                module,
                "gaussian_nodes",
                lambda scale=1.0, spacing=0.1, centre=0.0: gaussian_nodes(scale, 0.5 * spacing, centre),
            )
        for module in (channels, committee_channel, energies, losses, pair_energy, stabilities, tree_patterns):
            monkeypatch.setattr(module, "unit_legendre", lambda nodes: unit_legendre(2 * nodes))
        for module, name in ((channels, "NOISE_SPACING"), (losses, "SPACING")):
            monkeypatch.setattr(module, name, 0.5 * getattr(module, name))
        forget()

    yield double
    forget()


def forget() -> None:
    """Empty the caches of results."""
    for module in CACHED:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


class Case(NamedTuple):
    """A function, random arguments, and how far its numbers may move, relative to themselves."""

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], dict[str, Any]]
    points: int = 100
    tolerance: float = 1e-10
    looser: tuple[str, ...] = ()


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Even in the logarithm."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def numbers_of(kind: Callable[..., Any]) -> Callable[..., Any]:
    """The typical solutions of a model of these arguments."""
    return lambda **arguments: typical(kind(**arguments))


def solvable(alpha: tuple[float, float], kind: Callable[..., Model]) -> Callable[..., dict[str, Any]]:
    def draw(rng: np.random.Generator) -> dict[str, Any]:
        load = between(rng, *alpha)
        return {"alpha": load, "margin": rng.uniform(0.0, 1.0) * kappa_max(kind(load))}

    return draw


def features(rng: np.random.Generator) -> dict[str, Any]:
    x: dict[str, Any] = {"alpha_T": between(rng, 1e-3, 1e2), "inv_alpha": between(rng, 2.0, 1e4)}
    x["activation"] = str(rng.choice(["sign", "erf", "tanh"]))
    return x | {"margin": rng.uniform(0.0, 1.0) * kappa_max(RandomFeatures(**x))}


def numbers(answer: Any) -> dict[str, Any]:
    """The numbers of an answer, by name."""
    found: dict[str, Any] = answer.row() if hasattr(answer, "row") else vars(answer)
    return found


def pick(rng: np.random.Generator, *values: Any) -> Any:
    return values[rng.integers(len(values))]


def students(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "alpha": between(rng, SAMPLES.low, SAMPLES.high), "loss": rng.choice(["square", "logistic", "hinge", "huber"]),
        "regularization": between(rng, 1e-6, 1e6),
    }  # fmt: skip


def students_of_features(rng: np.random.Generator) -> dict[str, Any]:
    x = students(rng)
    return {
        "samples_per_feature": x.pop("alpha"),
        "inputs_per_feature": between(rng, INPUTS_PER_FEATURE.low, INPUTS_PER_FEATURE.high),
    } | x


CASES = {
    "perceptron": Case(numbers_of(Perceptron), solvable((1e-5, 0.83), Perceptron)),
    "tree committee": Case(numbers_of(TreeCommittee), solvable((1e-5, 0.9), TreeCommittee)),
    "teacher and student": Case(numbers_of(TeacherStudent), solvable((1e-5, 1.2), TeacherStudent)),
    "random features": Case(numbers_of(RandomFeatures), features, points=40),
    "overparameterized limit": Case(
        lambda **arguments: many_features_limit.overparameterized_limit(RandomFeatures(**arguments)),
        lambda rng: {"alpha_T": between(rng, 1e-3, 1e2), "margin": rng.uniform(0.0, 3.0)},
    ),
    "cross-entropy": Case(
        cross_entropy.minimizers,
        lambda rng: {
            "alpha": between(rng, ALPHA_OF_MINIMIZERS.low, ALPHA_OF_MINIMIZERS.high),
            "gamma": between(rng, GAMMA.low, GAMMA.high),
        },
        points=25, looser=("beta", "log_beta", "q_hat", "q"),
    ),
    "temperature": Case(
        gibbs.learning, lambda rng: {"alpha": between(rng, 0.1, 10.0), "temperature": between(rng, 0.01, 10.0)},
        points=25,
    ),
    "posterior": Case(
        bayes.learning,
        lambda rng: {"alpha": between(rng, 1e-4, 1e4), "prior": rng.choice(["gaussian", "binary"])},
    ),
    "absolute values": Case(
        partial(bayes.learning, channel="absolute"),
        lambda rng: {"alpha": between(rng, 0.1, 1e3), "start": rng.choice(["uninformed", "informed"])},
    ),
    "other priors and channels": Case(
        bayes.learning,
        lambda rng: {
            "alpha": between(rng, 0.1, 1e2), "start": rng.choice(["uninformed", "informed"]),
            "prior": pick(rng, "gaussian", "binary", GaussBernoulli(0.1), TwoGaussians(0.9)),
            "channel": pick(rng, "relu", Linear(0.1), Door(0.67)),
        },
        points=25,
    ),
    "many units": Case(committee.learning, lambda rng: {"alpha": between(rng, 0.1, 1e3), "units": math.inf}),
    "two units": Case(
        committee.learning, lambda rng: {"alpha": between(rng, 0.1, 1e2), "units": 2}, points=8, tolerance=1e-8
    ),
    "empirical risk": Case(erm.fit, students, looser=("training_loss",)),
    "hidden manifold": Case(hidden_manifold.fit, students_of_features, looser=("training_loss",)),
    "spherical perceptron": Case(
        numbers_of(Spherical), lambda rng: {"alpha": between(rng, 1e-3, 1.9), "units": 1}, points=30
    ),
    "spherical committee": Case(
        numbers_of(Spherical), lambda rng: {"alpha": between(rng, 1e-2, 8.0), "units": math.inf}, points=30
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_twice_the_nodes_change_nothing(name: str, twice: Callable[[], None]) -> None:
    case, rng = CASES[name], np.random.default_rng(27)
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    while len(found) < case.points:
        arguments = case.arguments(rng)
        try:
            found.append((arguments, numbers(case.function(**arguments))))
        except DomainError:  # the load of a random point may be beyond a threshold
            continue
    twice()
    for arguments, before in found:
        after = numbers(case.function(**arguments))
        residuals = [one.get("residual", 0.0) for one in (before, after)]
        assert not case.looser or max(residuals) < LARGEST_RESIDUAL, arguments
        own = ERRORS_OF_SOLVES + 2 * sum(residuals)
        for number, value in before.items():
            if isinstance(value, float) and number not in NOT_COMPARED:
                tolerance = own if number in case.looser else case.tolerance
                assert after[number] == pytest.approx(
                    value, rel=tolerance, abs=1e-12 * max(1.0, arguments.get("alpha", 1.0)), nan_ok=True
                ), (number, arguments)
