"""Tree committee of infinitely many binary perceptrons: replica theory of wide flat minima (`margins`, supplement III).

K perceptrons of N / K weights +-1 each see their own part of a pattern. An activation makes an output of each sum. The
committee adds the outputs up; half of them count negative, unless their mean is zero. K goes to infinity after N.
Margins are in units of the sum's standard deviation. Functions, arguments, errors and units are those of
`localentropy.replica.perceptron`. Each function has one argument more: `activation`, "sign", "relu", "erf", "tanh",
"identity" (the perceptron), or a function of arrays or of one number, which may have jumps and kinks. Derivation:
docs/margins/theory.md, section 8.

    >>> from localentropy.replica import tree_committee
    >>> tree_committee.alpha_c(activation="relu")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localentropy.arguments import require_between
from localentropy.numerics.activations import Activation
from localentropy.numerics.gaussian_covariance import Covariance, gaussian_covariance
from localentropy.numerics.jets import Jet, Number, variables
from localentropy.replica import franz_parisi as curves
from localentropy.replica import monotonicity, one_step
from localentropy.replica import typical as typicals
from localentropy.replica.ensemble import LARGEST_MARGIN, LOADS, Ensemble, Overlap

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TreeCommittee(Ensemble):
    """Patterns see overlaps through the covariance that the activation makes of them.

    Attributes:
        units: covariance of their outputs.
    """

    units: Covariance

    @property
    def response(self) -> float:
        """Derivative of the covariance at q = 0."""
        return float(self.covariance(variables([0.0])[0]).gradient[0])

    def flip_correlation(self, S: float) -> float:
        """Correlation of the pre-activations of a student and of its copy at overlap S."""
        return self.covariance(variables([S])[0]).value

    def covariance(self, q: Jet) -> Jet:
        """Q(q): covariance of the pre-activations of two students at overlap q, in units of their variance.

        Source: `margins`, eqs. 37; docs/margins/theory.md eq. 30.
        """
        return self.units.covariance(q)

    def lost(self, v: Jet) -> Jet:
        """1 - Q(1 - v), without cancellation."""
        return self.units.lost(v)

    def covariances(self, x: Overlap) -> tuple[Jet, Jet, Number]:
        """C = Q(q), V = 1 - Q(q), no teacher (docs/margins/theory.md eq. 31)."""
        return self.covariance(x.q), self.lost(x.v), 0.0

    def pair_covariances(self, x: Any, ref: Overlap) -> tuple[Number, Jet, Jet, Number, Jet, Number]:
        """No part of the student's pre-activation is its reference's (docs/margins/theory.md eq. 34)."""
        q, t = x.chi + x.s * x.s, x.tau + x.s * ref.q
        return 0.0, self.covariance(q), self.lost(x.v), self.covariance(x.s), self.covariance(t), 0.0

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """With Q(q) in place of q, whose curvature the patterns feel too (docs/margins/theory.md eq. 32)."""
        lost = self.lost(variables([x.v.value])[0])
        slope, curvature = lost.gradient[0], -lost.hessian[0, 0]
        return self.alpha * float(slope * slope * bent + curvature * pulled)


def typical(alpha: float, margin: float = 0.0, activation: Activation = "sign") -> typicals.TypicalSolution:
    """Typical solutions: entropy, overlap q of two solutions, and its conjugate.

    Source: `margins`, supplement III; docs/margins/theory.md eqs. 3, 4, 31, 32.
    """
    return typicals.solution(_ensemble(alpha, margin, activation))


def alpha_c(margin: float = 0.0, activation: Activation = "sign") -> float:
    """Most patterns per weight at which solutions of a margin exist: 0.9470 (sign), 0.9040 (ReLU) at margin 0."""
    return typicals.largest_alpha(_ensemble(1.0, margin, activation))


def kappa_max(alpha: float, activation: Activation = "sign") -> float:
    """Largest margin that solutions have: the zero of the entropy as a function of the margin."""
    return typicals.largest_margin(_ensemble(alpha, 0.0, activation))


def franz_parisi(
    distances: Iterable[float] | float,
    alpha: float,
    margin_ref: float | str = "max",
    margin: float = 0.0,
    activation: Activation = "sign",
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy around typical solutions of a margin; arguments and columns as for the perceptron.

    Source: `margins`, eqs. 34-36; docs/margins/theory.md eqs. 31, 32.
    """
    student = _ensemble(alpha, margin, activation)
    return curves.labelled_table(student, distances, margin_ref, unsolved, **_labels(student, activation))


def franz_parisi_one_step(
    distances: Iterable[float] | float,
    alpha: float,
    margin_ref: float | str = "max",
    margin: float = 0.0,
    block: float | None = None,
    activation: Activation = "sign",
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """The same with one step of replica-symmetry breaking; arguments and columns as for the perceptron."""
    student = _ensemble(alpha, margin, activation)
    return one_step.labelled_table(student, distances, margin_ref, block, unsolved, **_labels(student, activation))


def kappa_min(alpha: float, activation: Activation = "sign") -> float:
    """Smallest reference margin around which the entropy is nowhere negative."""
    return monotonicity.smallest_positive_margin(_ensemble(alpha, 0.0, activation))


def kappa_u(alpha: float, activation: Activation = "sign") -> float:
    """Smallest reference margin around which the entropy grows with distance up to its maximum."""
    return monotonicity.smallest_monotonic_margin(_ensemble(alpha, 0.0, activation))


def alpha_le(activation: Activation = "sign") -> float:
    """Patterns per weight above which the entropy is monotonic around no solution: 0.5578 (sign), 0.7725 (ReLU)."""
    return monotonicity.local_entropy_threshold(_ensemble(1.0, 0.0, activation))


def alpha_min(activation: Activation = "sign") -> float:
    """Patterns per weight above which the entropy is negative near every solution: 0.5731 (sign), 0.7955 (ReLU)."""
    return monotonicity.positivity_threshold(_ensemble(1.0, 0.0, activation))


def thresholds(activation: Activation = "sign") -> monotonicity.Thresholds:
    """alpha_c, alpha_le, kappa_max and the distance of the horizontal tangent there, alpha_min."""
    return monotonicity.thresholds(_ensemble(1.0, 0.0, activation))


def _labels(student: TreeCommittee, activation: Activation) -> dict[str, float | str]:
    """What the attributes of a table say of the model."""
    return {"alpha": student.alpha, "activation": str(getattr(activation, "__name__", activation))}


def _ensemble(alpha: float, margin: float, activation: Activation) -> TreeCommittee:
    return TreeCommittee(
        require_between("alpha", alpha, *LOADS),
        require_between("margin", margin, 0.0, LARGEST_MARGIN),
        gaussian_covariance(activation),
    )
