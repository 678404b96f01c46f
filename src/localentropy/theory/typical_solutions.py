"""Typical solutions of a model, and the loads and margins at which they end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from localentropy import quantities
from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch, point_of_zero
from localentropy.numerics.saddle_point import TOLERANCE, StationaryPoint, evaluate, solve
from localentropy.theory.model import LOG_ALPHA, LOG_LOAD, MARGIN, Asked, Covariances, Model, Typical
from localentropy.theory.question import question

ZERO_ENTROPY = -1e-10
"""An entropy above this counts as not negative: at a threshold it vanishes to rounding only."""

ROUNDING = 1e-13
"""Rounding of an entropy. A smaller entropy at margin 0 means that the load is alpha_c, where kappa_max is 0."""

EASED = (0.0, -0.25, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0, -3.5, quantities.MARGIN.low)
"""Margins from which a search starts: the first one at which solutions are found."""

FIRST_STEP_DOWN = 1e-8
"""First step from the largest margin to smaller ones, relative to it."""

LITTLE_ENTROPY = 0.05
"""More, in nats per weight, than the solutions next to a teacher have wherever those far from it are another state."""

LOAD_OF_TEACHER = 3.0
"""Load from which on, at margins from -0.5 on, no solutions but those next to the teacher were found."""

SMALLEST_ALPHA = 1e-12
"""Load at which the search for a load with solutions gives up."""


class GeneralizationErrors(NamedTuple):
    """Probabilities of a wrong label on a new pattern.

    Attributes:
        typical: the error of one typical solution.
        barycenter: the error of the barycentre of all solutions, which is also the error of their vote.

    Example:
        >>> from localentropy.theory import TeacherStudent, generalization_errors
        >>> round(generalization_errors(TeacherStudent(alpha=0.5)).typical, 6)
        0.405317
    """

    typical: float
    barycenter: float


@dataclass(frozen=True)
class TypicalSolution:
    """Replica-symmetric description of the typical solutions of a model.

    The numbers of `row` are attributes too: `solution.q`, `solution.alpha`.

    Attributes:
        model: the model that was asked.
        entropy: log number of solutions per weight, nats; of an energy at a temperature, of the weights drawn.
        order_parameters: q, the overlap of two solutions; q_hat, its conjugate; the other order parameters of the
            model; with a teacher also error_typical and error_barycenter (`GeneralizationErrors`); at a temperature
            also free_entropy, in nats, and mean_energy, both per weight. Of weights on a sphere (`Spherical`) the
            entropy is the log of the part of the sphere that solves, and there are only q and replicon.
        residual: relative error of the order parameters, estimated by the solver's last correction. The entropy is
            stationary, so its error is of the order of the square.

    Example:
        >>> from localentropy.theory import Perceptron, typical
        >>> solution = typical(Perceptron(alpha=0.5))
        >>> round(solution.entropy, 6), round(solution.q, 6), solution.alpha
        (0.31439, 0.322385, 0.5)
    """

    model: Asked
    entropy: float
    order_parameters: dict[str, float]
    residual: float

    def __getattr__(self, name: str) -> float:
        # An instance without its fields is asked too, while it is copied.
        numbers = self.row() if "order_parameters" in self.__dict__ else {}
        if name in numbers:
            return numbers[name]
        raise AttributeError(f"{type(self).__name__} has no {name}; there are {', '.join(numbers)}")

    def row(self) -> dict[str, float]:
        """The model's numbers and those of its solutions, as a row of a table.

        Example:
            >>> from localentropy.theory import Perceptron, typical
            >>> list(typical(Perceptron(alpha=0.5)).row())
            ['alpha', 'margin', 'entropy', 'q', 'q_hat', 'residual']
        """
        given = {name: value for name, value in self.model.parameters().items() if isinstance(value, float)}
        return given | {"entropy": self.entropy, **self.order_parameters, "residual": self.residual}


@question(energies="any", binary=False)
def typical(model: Model) -> TypicalSolution:
    """Typical solutions: their entropy, their overlaps, and their errors if there is a teacher.

    Source: `overparam`, eqs. 50-55 and 81; `margins`, eqs. 13-14; docs/margins/theory.md eqs. 3, 4, 35, 36, 48a;
    docs/overparam/theory.md sections 2 and 4.

    Args:
        model: with a load at which it has solutions of its margin. With an energy at a temperature, the answer is on
            weights drawn at this temperature.

    Returns:
        Entropy in nats per weight, order parameters by their names, and the residual of the saddle point.

    Raises:
        DomainError: there are no solutions, or the entropy at the temperature is negative; the message says which
            argument is out of which range.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import Perceptron, typical
        >>> round(typical(Perceptron(alpha=0.5)).entropy, 6)
        0.31439
    """
    point = typical_point(model)
    order_parameters = model.weights.reported(model.values(point.coordinates))
    if model.teacher:
        errors = errors_at(model, model.covariance_values(point.coordinates))
        order_parameters |= {"error_typical": errors.typical, "error_barycenter": errors.barycenter}
    if not model.asked.hard:
        mean_energy = -point.slope(MARGIN) * math.exp(-model.asked.control)
        order_parameters |= {"free_entropy": point.value, "mean_energy": mean_energy}
    return TypicalSolution(model, entropy_at(model, point), order_parameters, point.residual)


@question(teacher=True, energies="any", binary=False)
def generalization_errors(model: Model) -> GeneralizationErrors:
    """Probabilities of a wrong label on a new pattern, of a typical solution and of the barycentre.

    Source: `overparam`, eqs. 54-55 and 81; docs/overparam/theory.md eqs. 10, 11.

    Args:
        model: with a teacher, and a load at which it has solutions of its margin.

    Returns:
        The two probabilities, `typical` and `barycenter`.

    Raises:
        DomainError: there are no solutions; the message says which argument is out of which range.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import RandomFeatures, generalization_errors
        >>> round(generalization_errors(RandomFeatures(alpha_T=3.0, inv_alpha=2.0)).barycenter, 6)
        0.210473
    """
    return errors_at(model, model.covariance_values(typical_point(model).coordinates))


def errors_at(model: Model, at: Covariances) -> GeneralizationErrors:
    """The errors of solutions whose pre-activations have these covariances.

    Args:
        model: it has a teacher.
        at: the covariances.

    Returns:
        The errors.

    Example:
        >>> from localentropy.theory import TeacherStudent
        >>> from localentropy.theory.model import Covariances
        >>> from localentropy.theory.typical_solutions import errors_at
        >>> round(errors_at(TeacherStudent(alpha=1.0), Covariances(0.25, 0.5, 0.5)).typical, 6)  # arccos(R) / pi
        0.333333
    """
    C, V, R = at
    return GeneralizationErrors(model.disagreement(C + V, R), model.disagreement(C, R))


@question(load=False, energies="hard")
def alpha_c(model: Model) -> float:
    """Largest number of patterns per weight at which the model has solutions of its margin. There their entropy is 0.

    Source: `margins`, main text; `overparam`, appendix B.3; docs/margins/theory.md eq. 6;
    docs/overparam/theory.md eq. 9.

    If the teacher is among the weights, a negative margin has solutions at any load. Then the answer is infinite.

    Args:
        model: its load is not used.

    Returns:
        The load alpha = P/N.

    Raises:
        DomainError: a model with a cross-entropy, weights on a sphere with more than one unit or a negative margin: for
            these see `capacity_rs` and `capacity_one_step`.
        ConvergenceError: no load with solutions was found, or the threshold was not reached from it.

    Example:
        >>> from localentropy.theory import Perceptron, alpha_c
        >>> round(alpha_c(Perceptron()), 6)
        0.833079
    """
    return largest_alpha(model.at(alpha=1.0))


@question()
def kappa_max(model: Model) -> float:
    """Largest margin that solutions have. It is the zero of the entropy as a function of the margin.

    It is negative at loads above the `alpha_c` of margin 0; a teacher among the weights is refused there. Source:
    `margins`, main text; `overparam`, section II; docs/margins/theory.md eq. 6; docs/overparam/theory.md eq. 9.

    Args:
        model: with a load at which it has solutions; its margin is not used.

    Returns:
        The margin kappa.

    Raises:
        DomainError: there are no solutions at any margin from -4 on, kappa_max is above 1000, or a teacher is among the
            weights and the load is above `alpha_c` of margin 0.
        ConvergenceError: the margin was not found.

    Example:
        >>> from localentropy.theory import Perceptron, kappa_max
        >>> round(kappa_max(Perceptron(alpha=0.5)), 6)
        0.418062
    """
    return largest_margin(model)


@lru_cache(maxsize=512)
def typical_point(model: Model, margin_name: str = "margin") -> StationaryPoint:
    """Saddle point of a model that has solutions.

    Args:
        model: the model at its control parameters.
        margin_name: what an error message calls the margin.

    Returns:
        The saddle point.

    Raises:
        DomainError: there are no solutions; the message says which argument is out of which range.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import typical_point
        >>> round(typical_point(Perceptron(alpha=0.5)).value, 6)
        0.31439
    """
    if model.asked.symmetric:
        return _symmetric(model)
    lost = None
    try:
        point = _loaded(model)
        if point is not None and not (_has_second_state(model) and point.value < LITTLE_ENTROPY):
            return point
    except ConvergenceError as error:  # also far beyond a threshold
        point, lost = None, error
    if _has_second_state(model):
        try:
            beside = _beside_teacher(model)
        except ConvergenceError as failure:
            try:
                beside = model.sharing_nothing()
            except ConvergenceError:
                if point is None:
                    raise failure from None
                return point
        return point if point is not None and point.value > beside.value else beside
    if lost is not None and not model.weights.binary:
        raise lost
    if not model.asked.hard:
        raise lost or DomainError(
            f"energy = {model.energy!r}: the entropy at {model.describe()} is negative, so that weights are frozen: "
            "allowed are higher temperatures"
        )
    easiest = model.at(margin=min(model.margin, 0.0))
    threshold = largest_alpha(easiest)
    if model.margin > 0.0 and model.alpha <= threshold:
        maximum = largest_margin(easiest)
        if lost is None or model.margin > maximum:
            allowed = f"[{model.lowest_margin:g}, kappa_max = {maximum:.12g}] at {model.describe()}"
            raise DomainError(f"{margin_name} = {model.margin:.12g} is out of range: allowed are {allowed}")
        return _from_largest_margin(model)
    elif lost is None or model.alpha > threshold:
        where = f" at {margin_name} = {model.margin:.12g}" if model.margin < 0.0 or margin_name != "margin" else ""
        raise DomainError(f"{model.beyond('alpha_c', threshold)}{where}: {model.beyond_alpha_c}")
    raise lost


def _symmetric(model: Model) -> StationaryPoint:
    """The solution where w and -w always solve together: they have no overlaps, so that the mean number counts.

    Raises:
        DomainError: there are no solutions, or overlaps grow.
    """
    coordinates = np.full(2, -math.inf)
    problem = Typical(model)
    free = evaluate(problem, coordinates, problem.controls())
    assert free is not None
    point = StationaryPoint(coordinates, free.value, 0.0, free.gradient, free.hessian)
    if entropy_at(model, point) < ZERO_ENTROPY:
        what = f"{model.beyond('alpha_c', largest_alpha(model))}: there are no solutions"
        raise DomainError(what if model.asked.hard else f"{model.describe()}: the entropy is negative")
    splitting = model.alpha * (model.response * model.asked.slopes(model.variance)[1]) ** 2
    if splitting > 1.0:
        raise DomainError(
            f"energy = {model.energy!r} at {model.describe()}: solutions without overlap are unstable "
            f"(replicon = {splitting:.6g}): allowed are replicons up to 1"
        )
    return point


def _loaded(model: Model) -> StationaryPoint | None:
    """The solution, tried at once, then followed from small loads. None where there are no solutions.

    The entropy falls with the load. Once it is negative, there are no solutions, and a little beyond, the branch ends.
    """
    try:
        point = solve(Typical(model), model.weights.start(model, 1.0))
        if _has_solutions(model, point):
            return point
    except ConvergenceError:
        pass
    try:
        branch = add_patterns(model)
    except ConvergenceError as lost:
        if model.asked.hard or "log_load" not in lost.point:
            raise
        end = model.alpha * math.exp(lost.point["log_load"])
        what = f"typical solutions of {model.energy!r}, which were followed up to alpha = {end:.6g} and may end there,"
        raise ConvergenceError(what, {"alpha": model.alpha}, lost.residual) from lost
    return branch.point if _has_solutions(model, branch.point) else None


def _has_solutions(model: Model, point: StationaryPoint) -> bool:
    """Whether the entropy says so. Of weights that are not binary it is a volume, which says nothing."""
    return not model.weights.binary or entropy_at(model, point) >= ZERO_ENTROPY


def entropy_at(model: Model, point: StationaryPoint) -> float:
    """The entropy at a point of `Typical`: phi, or at a temperature phi - d phi / d ln beta.

    Args:
        model: the model.
        point: its saddle point.

    Returns:
        Nats per weight.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import entropy_at, typical_point
        >>> model = Perceptron(alpha=0.5)
        >>> round(entropy_at(model, typical_point(model)), 6)
        0.31439
    """
    return point.value if model.asked.hard else point.value - point.slope(MARGIN)


def _from_largest_margin(model: Model) -> StationaryPoint:
    """The solution, followed from the largest margin downwards: close to it, order parameters change quickly."""
    maximum, coordinates = _end_in_margin(_solvable(model.at(margin=0.0)))
    branch = Branch(
        lambda margin: Typical(model.at(margin=margin)), "margin", MARGIN, maximum, np.array(coordinates),
        step=FIRST_STEP_DOWN * maximum,
    )  # fmt: skip
    return branch.to(model.margin)


def _has_second_state(model: Model) -> bool:
    """Whether weights next to the teacher solve, too, in a state of their own."""
    return model.teacher_solves and model.margin < 0.0


def _beside_teacher(model: Model) -> StationaryPoint:
    """The solutions next to a teacher who solves, followed from a lower margin, and from a load where no others are.

    Raises:
        ConvergenceError: they were not found.
    """
    loaded = model.at(alpha=max(model.alpha, LOAD_OF_TEACHER))
    start = next((margin for margin in EASED if margin < model.margin), None)
    if start is None:
        raise ConvergenceError("solutions next to the teacher", {"alpha": model.alpha}, math.inf)
    branch = Branch(
        lambda margin: Typical(loaded.at(margin=margin)), "margin", MARGIN, start,
        typical_point(loaded.at(margin=start)).coordinates, step=0.1,
    )  # fmt: skip
    point = branch.to(model.margin)
    if model.alpha < LOAD_OF_TEACHER:
        point = branch_in_alpha(loaded, point).to(math.log(model.alpha))
    return point


def add_patterns(model: Model) -> Branch:
    """The branch in the logarithm of the load, from few patterns to all, or to the first negative entropy.

    Args:
        model: the model.

    Returns:
        The branch, at its end.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import add_patterns
        >>> round(add_patterns(Perceptron(alpha=0.5)).point.value, 6)
        0.31439
    """
    first = model.weights.small_load(model)
    branch = Branch(
        lambda log_load: Typical(model, log_load), "log_load", LOG_LOAD, math.log(first),
        model.weights.start(model, first), step=1.0,
    )  # fmt: skip
    while branch.position < 0.0 and _has_solutions(model, branch.point):
        branch.advance(0.0, TOLERANCE)
    return branch


def branch_in_margin(model: Model) -> Branch:
    """Typical solutions while the margin moves, from the model's own margin.

    Args:
        model: it has solutions.

    Returns:
        The branch, at the model's margin.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import branch_in_margin
        >>> branch_in_margin(Perceptron(alpha=0.5)).position
        0.0
    """
    return Branch(
        lambda margin: Typical(model.at(margin=margin)), "margin", MARGIN, model.margin,
        typical_point(model).coordinates, step=0.25 * math.sqrt(model.variance),
    )  # fmt: skip


def branch_in_alpha(model: Model, point: StationaryPoint) -> Branch:
    """Typical solutions while ln alpha moves, from the model's own alpha.

    Args:
        model: the model.
        point: its saddle point.

    Returns:
        The branch, at the model's alpha.

    Example:
        >>> import math
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import branch_in_alpha, typical_point
        >>> model = Perceptron(alpha=0.5)
        >>> round(math.exp(branch_in_alpha(model, typical_point(model)).position), 6)
        0.5
    """
    return Branch(
        lambda log_alpha: Typical(model.at(alpha=math.exp(log_alpha))), "log_alpha", LOG_ALPHA,
        math.log(model.alpha), point.coordinates, step=0.5,
    )  # fmt: skip


@lru_cache(maxsize=512)
def largest_alpha(model: Model) -> float:
    """alpha_c: the load at which the entropy vanishes at the margin of a model, or infinity. Its alpha is not used.

    Args:
        model: the model at its margin.

    Returns:
        alpha_c.

    Raises:
        ConvergenceError: no load with solutions was found, or the threshold was not reached from it.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import largest_alpha
        >>> round(largest_alpha(Perceptron()), 6)
        0.833079
    """
    if model.teacher_solves and model.margin < 0.0:
        return math.inf
    if model.asked.symmetric:
        return math.log(2.0) / model.asked.cost(model.variance)
    # Patterns cost more where weights have few directions to choose from.
    start = model.at(alpha=model.asked.few_patterns(model.variance))
    lost = None
    while start.alpha >= SMALLEST_ALPHA:
        try:
            point = _loaded(start)
        except ConvergenceError as error:  # too many patterns, which freeze the weights
            lost = error
        else:
            if point is not None:
                return math.exp(point_of_zero(branch_in_alpha(start, point), +1.0).coordinates[-1])
        start = start.at(alpha=0.25 * start.alpha)
    raise lost or ConvergenceError("alpha_c", {"alpha": start.alpha, "margin": start.margin}, math.inf)


def finite_largest_alpha(asked: str, model: Model) -> float:
    """`largest_alpha` for a question that searches below it.

    Args:
        asked: the question, for the message.
        model: the model at its margin.

    Returns:
        alpha_c.

    Raises:
        DomainError: it is infinite.
        ConvergenceError: as in `largest_alpha`.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import finite_largest_alpha
        >>> round(finite_largest_alpha("alpha_le", Perceptron()), 6)
        0.833079
    """
    threshold = largest_alpha(model)
    if threshold == math.inf:
        raise DomainError(
            f"{asked}: margin = {model.margin:g}: the teacher solves any number of patterns, so that alpha_c is "
            "infinite; allowed: margin ≥ 0"
        )
    return threshold


def largest_margin(model: Model) -> float:
    """kappa_max: the margin at which the entropy vanishes at the alpha of a model. Its margin is not used.

    It is negative above the alpha_c of margin 0; a teacher among the weights is refused there.

    Args:
        model: the model at its alpha.

    Returns:
        kappa_max.

    Raises:
        DomainError: there are no solutions at any margin, or the margin is above all that are accepted.
        ConvergenceError: the margin was not found.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.typical_solutions import largest_margin
        >>> round(largest_margin(Perceptron(alpha=0.5)), 6)
        0.418062
    """
    return _end_in_margin(_solvable(model))[0]


@lru_cache(maxsize=512)
def _solvable(model: Model) -> Model:
    """The model at margin 0 or, where this has no solutions, at a negative margin that has.

    If the teacher is among the weights, it is the only solution of margin 0 above alpha_c, and there is no such margin.
    """
    margins = (0.0,) if model.teacher_solves else EASED
    for margin in sorted({max(margin, model.lowest_margin) for margin in margins}, reverse=True):
        eased = model.at(margin=margin)
        if model.alpha <= largest_alpha(eased):
            break
    return eased


@lru_cache(maxsize=512)
def _end_in_margin(solvable: Model) -> tuple[float, tuple[float, ...]]:
    """The largest margin, and the coordinates of its solutions, from a model at a smaller margin."""
    point = typical_point(solvable)
    if point.value <= ROUNDING:
        return solvable.margin, tuple(point.coordinates.tolist())
    branch = branch_in_margin(solvable)
    try:
        *coordinates, margin = point_of_zero(branch, +1.0).coordinates.tolist()
        return margin, tuple(coordinates)
    except ConvergenceError:
        if branch.position < quantities.MARGIN.high:
            raise
    raise DomainError(f"too few patterns at {solvable.describe()}: kappa_max is above {quantities.MARGIN.high:g}")
