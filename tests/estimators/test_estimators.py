"""The classifiers of scikit-learn: its own checks, and the solvers' weights behind `fit`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from localentropy import solvers
from localentropy.errors import DomainError
from localentropy.estimators import BinaryPerceptronClassifier, CommitteeClassifier
from localentropy.estimators.committee import SOLVERS
from localentropy.instances import hidden_manifold, random_patterns
from localentropy.instances.committee import TreeCommittee
from localentropy.solvers.committee.least_action import committee_least_action
from tests.test_without_torch import IN_ONE_LINE, WITHOUT_TORCH, run

SHORT = {"binarynet": {"epochs": 100}, "entropic_least_action": {"epochs": 10}}
FROZEN = "a flip from any of the 8 weights of 2 inputs adds errors, and MCT0 never accepts one"
NOT_THE_BEST = "no weights of 2 inputs are without errors, and SBPI returns its last ones"
CONSTANT = "of 2 inputs on a tree of 3 units, two units see constants alone"
EXPECTED = {
    "BinaryPerceptronClassifier(solver='mct0')": {"check_classifiers_train": FROZEN},
    "BinaryPerceptronClassifier(binarize=True, solver='sbpi')": {"check_classifiers_train": NOT_THE_BEST},
    "CommitteeClassifier()": {"check_classifiers_train": CONSTANT},
}
"""Classifier → checks that it fails, with the reason."""
PERCEPTRONS = [
    BinaryPerceptronClassifier(solver, binarize=solver == "sbpi", solver_options=SHORT.get(solver))
    for solver in solvers.MODULES
]
COMMITTEES = [
    CommitteeClassifier(solver, architecture=architecture, solver_options=SHORT.get(solver))
    for architecture in ("tree", "full")
    for solver in SOLVERS
]


@pytest.mark.parametrize("classifier", PERCEPTRONS + COMMITTEES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_a_classifier_passes_the_checks_of_scikit_learn_but_those_that_are_named(classifier: ClassifierMixin) -> None:
    results = check_estimator(classifier, on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in results if one["status"] == "failed"}
    assert failed == set(EXPECTED.get(str(classifier), {}))
    assert sum(one["status"] == "passed" for one in results) >= 50


@pytest.mark.parametrize("solver", ["anneal", "mct0", "sbpi", "belief_propagation", "focusing_bp"])
def test_the_weights_are_those_of_the_solver(solver: str) -> None:
    data = hidden_manifold(D=31, P=61, N=301, seed=1)
    classifier = BinaryPerceptronClassifier(solver, fit_intercept=False, binarize=True, random_state=3)
    classifier.fit(data.patterns, np.where(data.labels > 0, "yes", "no"))
    expected = getattr(solvers, solver)(data, seed=3)
    assert np.array_equal(classifier.solution_.weights, expected.weights)
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert np.allclose(classifier.decision_function(data.patterns), data.labels * data.stabilities(expected.weights))
    wrong = classifier.predict(data.patterns) != np.where(data.labels > 0, "yes", "no")
    assert wrong.mean() == expected.train_errors[-1] == data.train_error(expected.weights)


def test_a_committee_votes_as_its_solver_does() -> None:
    data = random_patterns(N=99, P=80, seed=2)
    machine = TreeCommittee(data, units=3)
    expected = committee_least_action(machine, seed=5)
    classifier = CommitteeClassifier("least_action", fit_intercept=False, random_state=5)
    classifier.fit(data.patterns, data.labels)
    assert np.array_equal(classifier.solution_.weights, expected.weights)
    votes = np.sign(machine.preactivations(expected.weights)).sum(1)
    assert np.array_equal(classifier.decision_function(data.patterns), data.labels * votes)
    assert classifier.score(data.patterns, data.labels) == 1.0


@pytest.mark.parametrize("inputs", [6, 7])
def test_the_intercept_is_the_best_that_signs_allow(inputs: int) -> None:
    """Annealing of few weights ends at the best of all configurations, which enumeration finds."""
    random = np.random.default_rng(inputs)
    X = random.choice([-1, 1], (25, inputs))
    y = X @ random.choice([-1, 1], inputs) + 2.5 > 0
    classifier = BinaryPerceptronClassifier("anneal", random_state=0).fit(X, y)
    weights = len(classifier.solution_.weights)
    assert weights % 2 == 1 and 1 <= weights - inputs <= 2
    patterns = np.hstack([X, np.ones((25, weights - inputs))])
    configurations = np.array(list(itertools.product([-1, 1], repeat=weights)))
    best = ((patterns @ configurations.T > 0) == y[:, None]).mean(0).max()
    assert classifier.score(X, y) == best


def test_a_median_binarizes_and_signs_stay_as_they_are() -> None:
    random = np.random.default_rng(0)
    X = random.exponential(size=(41, 11))
    y = random.integers(0, 2, 41)
    real = BinaryPerceptronClassifier("sbpi", binarize=True, random_state=0).fit(X, y)
    assert np.array_equal(real.thresholds_, np.median(X, axis=0))
    signs = np.where(np.median(X, axis=0) < X, 1.0, -1.0)
    given = BinaryPerceptronClassifier("sbpi", binarize=True, random_state=0).fit(signs, y)
    assert np.array_equal(given.thresholds_, np.zeros(11))
    assert np.array_equal(real.solution_.weights, given.solution_.weights)
    assert np.array_equal(real.predict(X), given.predict(signs))


def test_a_grid_search_in_a_pipeline() -> None:
    data = hidden_manifold(D=21, P=90, N=80, seed=0, activation="tanh")
    grid = {"binaryperceptronclassifier__margin": [0.0, 0.2]}
    search = GridSearchCV(make_pipeline(StandardScaler(), BinaryPerceptronClassifier(random_state=0)), grid, cv=3)
    assert 0.5 < search.fit(data.patterns, data.labels).best_score_ <= 1.0


@pytest.mark.parametrize(
    ("classifier", "said"),
    [
        (BinaryPerceptronClassifier("fbp"), "solver = 'fbp'"),
        (BinaryPerceptronClassifier("sbpi", fit_intercept=False, binarize=True), "N = 4 is even"),
        (BinaryPerceptronClassifier("sbpi"), "sbpi needs ±1 patterns"),
        (BinaryPerceptronClassifier(margin=-1.0), "margin = -1"),
        (BinaryPerceptronClassifier(binarize="yes"), "binarize = 'yes'"),
        (CommitteeClassifier(units=2), "units = 2: must be odd"),
        (CommitteeClassifier(architecture="bush"), "architecture = 'bush'"),
        (CommitteeClassifier("lal"), "solver = 'lal'"),
        (CommitteeClassifier(binarize=False), "its patterns are real numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parameters_are_refused_in_one_line(classifier: ClassifierMixin, said: str) -> None:
    random = np.random.default_rng(0)
    with pytest.raises(DomainError) as raised:
        classifier.fit(random.normal(size=(20, 4)), random.integers(0, 2, 20))
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_one_class_three_classes_and_no_fit_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(9, 4))
    with pytest.raises(ValueError, match="y has one class"):
        BinaryPerceptronClassifier().fit(X, np.ones(9))
    with pytest.raises(ValueError, match="Only binary classification"):
        BinaryPerceptronClassifier().fit(X, np.arange(9) % 3)
    with pytest.raises(NotFittedError):
        CommitteeClassifier().predict(X)


def test_without_scikit_learn_one_line_says_what_is_missing() -> None:
    statement = "from localentropy.estimators import CommitteeClassifier"
    said = run(WITHOUT_TORCH.replace("torch", "sklearn") + IN_ONE_LINE.format(statement=statement))
    assert said == "localentropy.estimators needs scikit-learn: pip install 'localentropy[estimators]'\n"
