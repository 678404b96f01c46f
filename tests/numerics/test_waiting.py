"""The line for who waits for a compilation: in time, once for a wait, on a terminal or in the log."""

import io
import logging
import re
import sys
import time
from threading import Event, Timer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numba import njit
from numba.core.errors import TypingError

from localentropy import solvers, theory
from localentropy.instances import hidden_manifold, random_patterns
from localentropy.instances.committee import random_full_committee, random_tree_committee
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.landscape.barriers import bent_flip_path, bent_path, flip_path
from localentropy.landscape.committee import committee_local_energy
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.landscape.feature_local_entropy import feature_local_entropy
from localentropy.landscape.input_noise import input_noise_error
from localentropy.landscape.local_entropy import local_entropy
from localentropy.landscape.random_flips import random_flips
from localentropy.landscape.spectra import Hessian, largest_eigenvalues, spectral_density, trace
from localentropy.landscape.unique_minimum import unique_minimum
from localentropy.numerics import waiting
from localentropy.numerics.compiled import kernel
from localentropy.numerics.waiting import Announcer
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.committee_bp import binary_committee_bp
from localentropy.solvers.binary.committee_focusing_bp import binary_committee_focusing_bp
from localentropy.solvers.binary.constrained_bp import constrained_bp
from localentropy.solvers.binary.constraints import anneal_constrained
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.descent import descend_phase_retrieval
from localentropy.solvers.generalized_amp import generalized_amp
from localentropy.solvers.linear_student import train_linear_student
from localentropy.theory import (
    Perceptron,
    Spherical,
    franz_parisi,
    franz_parisi_one_step,
    gaussian_covariate,
    group_entropy,
    typical_distance,
)
from localentropy.theory.symmetric_perceptron import Band


@kernel
def wrong():
    return "a" - 1  # type: ignore[operator]


def about(function) -> SimpleNamespace:
    return SimpleNamespace(data={"dispatcher": function})


@pytest.fixture
def clock(monkeypatch):
    """The announcer's time stands still until it is set; its timers fire at once."""
    time = SimpleNamespace(now=0.0)
    time.monotonic = lambda: time.now
    monkeypatch.setattr(waiting, "time", time)
    monkeypatch.setattr(waiting, "PATIENCE", 1e-3)
    return time


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "localentropy")
    return caplog


def wait_for(announcer, function) -> None:
    """A compilation that takes longer than the timer of the announcer."""
    announcer.on_start(about(function))
    announcer._timer.join()
    announcer.on_end(about(function))


def test_one_line_for_a_wait(clock, log):
    announcer = Announcer()
    wait_for(announcer, wrong)
    wait_for(announcer, wrong)
    assert len(log.messages) == 1 and "(wrong " in log.messages[0]
    clock.now = 5.0
    wait_for(announcer, wrong)
    assert len(log.messages) == 2


def test_on_a_terminal(clock, log, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    wait_for(Announcer(), wrong)
    assert screen.getvalue().startswith("localentropy: compiling ") and screen.getvalue().count("\n") == 1
    assert not log.messages


def test_no_line_for_a_short_one_and_for_functions_of_others(log, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 1e5)
    announcer = Announcer()
    # Numba tells also of parts of functions, which have no cache.
    for other in (njit(lambda: 0), object()):
        announcer.on_start(about(other))
        assert announcer._timer is None
    announcer.on_start(about(wrong))
    timer: Any = announcer._timer
    announcer.on_end(about(wrong))
    assert timer.finished.is_set() and not log.messages


def test_a_compilation_that_fails_is_not_waited_for(monkeypatch):
    timers = []

    def timer(*arguments):
        timers.append(Timer(*arguments))
        return timers[-1]

    monkeypatch.setattr(waiting, "PATIENCE", 1e5)
    monkeypatch.setattr(waiting, "Timer", timer)
    with pytest.raises(TypingError):
        wrong()
    assert [timer.finished.is_set() for timer in timers] == [True]


def test_a_long_loop_says_every_five_seconds_how_far_it_is(clock, log):
    for item in waiting.counted("abcdef", "alpha_le"):
        clock.now += 3.0 if item < "e" else 0.1
    assert log.messages == ["alpha_le: 2 of 6 done", "alpha_le: 4 of 6 done"]


def test_a_short_loop_says_nothing(clock, log):
    assert list(waiting.counted([1, 2, 3], "kappa_max")) == [1, 2, 3] and log.messages == []


def test_a_long_block_says_how_long_it_has_been_running(log, monkeypatch):
    monkeypatch.setattr(waiting, "STEP", 1e-3)
    with waiting.waited("alpha_u"):
        while not log.messages:
            time.sleep(1e-3)
    assert log.messages[0] == "alpha_u: 0 s so far"


BAND = Band(1.0)
STREAM = [np.random.default_rng(0)]
HESSIAN = Hessian(lambda model: (next(model.parameters()) ** 2).sum(), torch.nn.Linear(99, 1, bias=False).double())
LONG = {
    "anneal": lambda: solvers.anneal(random_patterns(N=21, P=200, seed=0), seed=0, sweeps=300),
    "mct0": lambda: solvers.mct0(random_patterns(N=21, P=200, seed=0), seed=0, sweeps=300),
    "anneal_constrained": lambda: anneal_constrained(random_patterns(N=21, P=200, seed=0), BAND, seed=0, sweeps=300),
    "belief_propagation": lambda: solvers.belief_propagation(random_patterns(N=101, P=30, seed=0), seed=0),
    "constrained_bp": lambda: constrained_bp(random_patterns(N=21, P=5, seed=0), BAND, seed=0),
    "binary_committee_bp": lambda: binary_committee_bp(random_tree_committee(27, 5, 3, seed=0), seed=0),
    "binary_committee_focusing_bp": lambda: binary_committee_focusing_bp(
        random_tree_committee(27, 5, 3, seed=0), seed=0, steps=2
    ),
    "committee_least_action": lambda: committee_least_action(random_tree_committee(99, 80, 3, seed=0), seed=0),
    "committee_entropic_least_action": lambda: committee_entropic_least_action(
        random_tree_committee(99, 50, 3, seed=0), seed=0
    ),
    "message passing": lambda: generalized_amp(generalized_linear(n=100, d=50, seed=0), seed=0),
    "descend_phase_retrieval": lambda: descend_phase_retrieval(
        [generalized_linear(n=20, d=10, seed=0, channel="absolute")], seeds=[0]
    ),
    "local_entropy": lambda: local_entropy(random_patterns(N=101, P=20, seed=0), np.ones(101), distances=[0.1, 0.2]),
    "expectation_propagation": lambda: committee_local_entropy(
        random_full_committee(21, 4, 3, seed=0), np.ones((3, 21)), distances=[0.1, 0.2]
    ),
    "franz_parisi": lambda: franz_parisi(Perceptron(alpha=0.3), [0.1, 0.2], margin_ref=0.0),
    "typical_distance": lambda: typical_distance(Perceptron(alpha=0.3), margin_ref=0.0),
    "franz_parisi_one_step": lambda: franz_parisi_one_step(Perceptron(alpha=0.3), [0.1, 0.2], margin_ref=0.0),
    "local_entropy, theory": lambda: theory.local_entropy(Perceptron(alpha=0.5), [0.1, 0.2]),
    "group_entropy": lambda: group_entropy(Perceptron(alpha=0.3), [0.7, 0.9], replicas=2),
    "group_entropy, spheres": lambda: group_entropy(Spherical(alpha=1.0, units=1), [0.7, 0.9]),
    "feature_local_entropy": lambda: feature_local_entropy(
        hidden_manifold(D=21, P=21, N=63, seed=0), np.ones(63), distances=[0.1, 0.2]
    ),
    "committee_local_entropy": lambda: committee_local_entropy(
        random_tree_committee(27, 5, 3, seed=0), np.ones((3, 9)), distances=[0.1, 0.2]
    ),
    "committee_solution_fraction": lambda: committee_solution_fraction(
        random_tree_committee(27, 5, 3, seed=0), np.ones((3, 9)), distance=0.1, draws=200_000, seed=0
    ),
    "input_noise_error": lambda: input_noise_error(
        random_tree_committee(27, 5, 3, seed=0), np.ones((3, 9)), probabilities=[0.1], draws=2, seed=0
    ),
    "local_energy": lambda: committee_local_energy(
        random_tree_committee(27, 5, 3, seed=0), np.full((1, 3, 9), 1 / 3), sigmas=[0.1], draws=2, generators=STREAM
    ),
    "random_flips": lambda: random_flips(
        torch.ones(1, 9), lambda weights: (weights < 0).double().mean(1), distances=[0.1], draws=2, generators=STREAM
    ),
    "flip_path": lambda: flip_path(random_patterns(9, 3, seed=0), np.ones(9), -np.ones(9), order="greedy", seed=0),
    "bent_flip_path": lambda: bent_flip_path(random_patterns(21, 20, seed=0), np.ones(21), -np.ones(21), seed=0),
    "bent_path": lambda: bent_path(lambda weights: np.ones(len(weights)), np.zeros(2), np.ones(2), seed=0),
    "trace": lambda: trace(HESSIAN, draws=2, seed=0),
    "spectral_density": lambda: spectral_density(HESSIAN, draws=2, seed=0),
    "unique_minimum": lambda: unique_minimum(generalized_linear(n=30, d=20, seed=1, channel="absolute")),
    "train_linear_student": lambda: train_linear_student(
        np.eye(3), np.array([1, -1, 1]), loss="logistic", regularization=0.1
    ),
    "solve_many": lambda: solve_many(solvers.sbpi, [random_patterns(N=21, P=5, seed=0)] * 2, seeds=[0, 1]),
}
"""Calls that take 5 s at larger sizes, by the names of their loops. A comma tells two of one name apart."""


@pytest.mark.parametrize("name", LONG)
def test_long_calls_say_how_far_they_are(name, log, monkeypatch):
    monkeypatch.setattr(waiting, "STEP", 0.0)
    LONG[name]()
    assert any(re.fullmatch(rf"{name.split(',')[0]}: \d+ of \d+ done", message) for message in log.messages)


def bowl(model: torch.nn.Module) -> torch.Tensor:
    weights = next(model.parameters())
    return weights.square().sum() + weights.sum() ** 2


FEW = np.eye(3)
UNKNOWN = {
    "alpha_u": lambda: theory.alpha_u(Perceptron()),
    "fit": lambda: gaussian_covariate.fit(FEW, FEW, FEW, "logistic", 0.01),
    "sbpi": lambda: solvers.sbpi(random_patterns(N=21, P=5, seed=0), seed=0),
    "largest_eigenvalues": lambda: largest_eigenvalues(Hessian(bowl, torch.nn.Linear(99, 1, bias=False).double())),
}
"""The same of calls of which nobody can say how much is left."""


class AfterOneMessage(Event):
    """The end of a call that does not come before the first message, however short the call is."""

    def __init__(self):
        super().__init__()
        self.asked, self.told = False, Event()

    def wait(self, timeout=None):
        if not self.asked:
            self.asked = True
            return False
        self.told.set()
        return super().wait(timeout)

    def set(self):
        self.told.wait()
        super().set()


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_long_calls_say_how_long_they_have_been_running(name, log, monkeypatch):
    monkeypatch.setattr(waiting, "Event", AfterOneMessage)
    UNKNOWN[name]()
    assert any(re.fullmatch(rf"{name}: \d+ s so far", message) for message in log.messages)
