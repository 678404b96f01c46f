"""The margin at which the barycentre of the solutions generalizes best, for labels of a teacher who sees other inputs.

Where students see the teacher's own inputs (`TeacherStudent`), no margin helps: the barycentre of all solutions is
optimal.
"""

from __future__ import annotations

import math
from functools import lru_cache

from localentropy.errors import DomainError
from localentropy.numerics.continuation import Branch, zero_of_observable
from localentropy.numerics.jets import Jet, variables
from localentropy.numerics.saddle_point import solve
from localentropy.theory.model import MARGIN, Model
from localentropy.theory.question import question
from localentropy.theory.random_features import RandomFeatures
from localentropy.theory.typical_solutions import (
    branch_in_alpha,
    branch_in_margin,
    largest_alpha,
    largest_margin,
    typical_point,
)

LARGEST_INV_ALPHA = 1e4
"""How far to look for the over-parameterization from which a positive margin helps."""


@question(pairs=True, of=RandomFeatures)
def kappa_opt(model: RandomFeatures) -> float:
    """Margin in [0, kappa_max] whose solutions' barycentre has the smallest generalization error.

    It is zero for 1/alpha up to `optimal_margin_onset`, and grows continuously from zero above. Source: `overparam`,
    section II and appendix D; docs/overparam/theory.md section 4.

    Args:
        model: with a load at which it has solutions of margin 0; its own margin is not used.

    Returns:
        The margin.

    Raises:
        DomainError: no solutions of margin 0, a model with an energy, or patterns that do not see the teacher.
        ConvergenceError: the margin was not found.

    Example:
        >>> from localentropy.theory import RandomFeatures, kappa_opt
        >>> round(kappa_opt(RandomFeatures(alpha_T=3.0, inv_alpha=6.0)), 4)
        0.471
    """
    return _optimal_margin(model.at(margin=0.0))


@question(load=False, pairs=True, of=RandomFeatures)
def optimal_margin_onset(model: RandomFeatures) -> float:
    """Over-parameterization 1/alpha above which a positive margin improves the barycentre.

    Source: `overparam`, appendix D; docs/overparam/theory.md section 4.

    Args:
        model: its load and its margin are not used.

    Returns:
        The over-parameterization 1/alpha = N/P.

    Raises:
        DomainError: patterns that do not see the teacher, or an onset above 1/alpha = 10^4.
        ConvergenceError: the onset was not found.

    Example:
        >>> from localentropy.theory import RandomFeatures, optimal_margin_onset
        >>> round(optimal_margin_onset(RandomFeatures(alpha_T=3.0)), 4)
        3.3721
    """
    return _onset(model.at(alpha=1.0, margin=0.0))


def _barycenter_error_slope(model: Model, branch: Branch) -> float:
    """Derivative by the margin of the barycentre's error, arctan(sqrt(C) / R) / pi, where a branch stands.

    It is a small difference where patterns hardly see the teacher. So it is read off a point that was solved once more,
    and whose derivatives are those of the last step.
    """
    point = solve(branch.family(branch.position), branch.point.coordinates)
    by_margin = point.response[:, MARGIN]
    C, _, R = model.covariances(model.weights.order_parameters(variables(point.coordinates)))
    assert isinstance(R, Jet)
    root, root_slope = math.sqrt(C.value), 0.5 * float(C.gradient @ by_margin) / math.sqrt(C.value)
    return (R.value * root_slope - root * float(R.gradient @ by_margin)) / (math.pi * (C.value + R.value**2))


@lru_cache(maxsize=256)
def _optimal_margin(model: Model) -> float:
    """The root of the error's derivative, not a minimum on a grid: the error is flat to 1e-7 near the onset."""
    branch = branch_in_margin(model)
    if _barycenter_error_slope(model, branch) >= 0.0:
        return 0.0
    maximum = largest_margin(model)
    found = zero_of_observable(branch, lambda _: -_barycenter_error_slope(model, branch), maximum)
    return maximum if found is None else found  # the error may fall up to the largest margin


@lru_cache(maxsize=64)
def _onset(model: RandomFeatures) -> float:
    """1/alpha at which the derivative of the error at zero margin changes sign."""
    start = model.at(alpha=largest_alpha(model))
    branch = branch_in_alpha(start, typical_point(start))
    end = -math.log(LARGEST_INV_ALPHA)
    found = zero_of_observable(branch, lambda _: _barycenter_error_slope(model, branch), end)
    if found is None:
        raise DomainError(
            f"alpha_T = {model.alpha_T:g}: the onset of the optimal margin is above 1/alpha = {LARGEST_INV_ALPHA:g}"
        )
    return math.exp(-found)
