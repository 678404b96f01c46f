"""What the classifiers have in common: from a table and two classes to ±1 labels, and from fields back to classes."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from localentropy.arguments import require_flag
from localentropy.errors import MissingPackageError
from localentropy.instances.perceptron import Instance

if TYPE_CHECKING:
    from localentropy.solvers.solution import Solution

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags, check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    raise MissingPackageError(
        "localentropy.estimators needs scikit-learn: pip install 'localentropy[estimators]'"
    ) from None


class TwoClasses(ClassifierMixin, BaseEstimator):
    """A classifier of two classes: what `BinaryPerceptronClassifier` and `CommitteeClassifier` have in common.

    Attributes:
        classes_: the two classes, in the order of the labels −1 and +1.
        solution_: what the solver returned. `solution_.solved` says whether it has no training error at its margin.
        thresholds_: an input above its threshold is +1, [n_features]; None if inputs are taken as they are.
        n_features_in_: number of inputs.

    Example:
        >>> import numpy as np
        >>> from localentropy.estimators import BinaryPerceptronClassifier
        >>> X = np.random.default_rng(0).standard_normal((40, 201))
        >>> classifier = BinaryPerceptronClassifier(random_state=0).fit(X, X[:, 0] > 0)
        >>> classifier.solution_.solved, classifier.classes_.tolist(), classifier.n_features_in_
        (True, [False, True], 201)
    """

    fit_intercept: bool
    binarize: bool
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Look for weights without training errors. A run that finds none is no error, see `solution_`.

        Args:
            X: inputs, [n_samples, n_features].
            y: two classes, [n_samples].

        Raises:
            ValueError: tables that scikit-learn refuses; not two classes; or what the solver refuses.
        """
        table, y = validate_data(self, X, y)
        check_classification_targets(y)
        if type_of_target(y) == "multiclass":
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("y has one class: a classifier needs samples of two classes")
        signs = bool((np.abs(table) == 1).all())
        thresholds = np.zeros(table.shape[1]) if signs else np.median(table, axis=0)
        self.thresholds_ = thresholds if require_flag("binarize", self.binarize) else None
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31)
        self.classes_ = classes
        self.solution_ = self._solve(self._problem(table, 2.0 * codes - 1.0), int(seed))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """How strongly each sample belongs to the second class, positive for this class: [n_samples].

        It is w.x / sqrt(N) of `BinaryPerceptronClassifier`, with the appended inputs in N, and the sum of the signs of
        the K units of `CommitteeClassifier`.

        Raises:
            ValueError: tables that scikit-learn refuses, or with another number of inputs.
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False)
        # With labels of 1 stabilities are fields.
        return self._fields(self._problem(table, np.ones(len(table))))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample: [n_samples].

        Raises:
            ValueError: see `decision_function`.
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _problem(self, table: np.ndarray, labels: np.ndarray) -> Any:
        """The training set: ±1 patterns where there are thresholds, and constant inputs behind the others."""
        inputs = table if self.thresholds_ is None else np.where(table > self.thresholds_, 1, -1)
        constants = self._constants(table.shape[1]) if require_flag("fit_intercept", self.fit_intercept) else 0
        patterns = np.hstack([inputs, np.ones((len(table), constants))]).astype(np.float32)
        # Its random streams are not used.
        return self._machine(Instance(patterns=patterns, labels=labels, seed=0))

    def _constants(self, inputs: int) -> int:
        """Number of inputs that are always 1, whose weights are the intercept."""
        raise NotImplementedError

    def _machine(self, data: Instance) -> Any:
        """What the solver takes."""
        return data

    def _solve(self, problem: Any, seed: int) -> Solution:
        raise NotImplementedError

    def _fields(self, problem: Any) -> np.ndarray:
        raise NotImplementedError
