"""Every argument that is a number, once: its name, symbol, meaning, unit and range.

The library checks its arguments with these quantities, the parameters of the programs are bounded by them, and the page
docs/quantities.md lists them. The functions of the theory were tried in these ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from localentropy.arguments import LARGEST, bound, require_array, require_integer, require_number
from localentropy.errors import DomainError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Quantity:
    """A real number that functions and programs take.

    Attributes:
        name: of the argument.
        symbol: in formulas.
        words: what it is.
        low: lower end of its range.
        high: upper end; infinity: any finite number.
        ends: brackets of the interval; a round one excludes its end.
        unit: of the number; empty if it has none.
        also: other values that functions take, in words.

    Example:
        >>> from localentropy.quantities import DAMPING
        >>> DAMPING.require(0.5), DAMPING.interval
        (0.5, '[0, 1)')
    """

    name: str
    symbol: str
    words: str
    low: float
    high: float
    ends: str = "[]"
    unit: str = ""
    also: tuple[str, ...] = ()

    type: ClassVar[type[float]] = float
    """Of the number in Python."""

    @property
    def interval(self) -> str:
        """The range, as it is written in formulas."""
        upper = "∞)" if math.isinf(self.high) else f"{bound(self.high)}{self.ends[1]}"
        return f"{self.ends[0]}{bound(self.low)}, {upper}"

    @property
    def allowed(self) -> str:
        """The range and the other values, in words."""
        *first, last = self.interval, *self.also
        return f"{', '.join(first)} and {last}" if first else last

    def has(self, number: float) -> bool:
        """Whether a finite number is in the range."""
        above = self.low < number if self.ends[0] == "(" else self.low <= number
        return above and (number < self.high if self.ends[1] == ")" else number <= self.high)

    def require(self, value: object) -> float:
        """The argument as a float.

        Raises:
            DomainError: not a number, or out of range.
        """
        number = require_number(self.name, value, lambda: self.allowed)
        if not self.has(number):
            raise DomainError(f"{self.name} = {number:.12g} is out of range: allowed are {self.allowed}")
        return number

    def require_all(self, values: Any) -> np.ndarray:
        """The argument as a float64 array of such numbers, of any shape.

        Raises:
            DomainError: no numbers, or one out of range.
        """
        numbers = require_array(self.name, values, lambda: self.interval)
        # The ends of a range are few, and its numbers may be many.
        if not (self.has(numbers.min()) and self.has(numbers.max())):
            wrong = next(number for number in numbers.flat if not self.has(number))
            raise DomainError(f"{self.name} = {wrong:.12g} is out of range: allowed are {self.interval}")
        return numbers

    def called(self, name: str, symbol: str = "", words: str = "") -> Self:
        """The same range for an argument of another name; its symbol is the name if none is given."""
        return replace(self, name=name, symbol=symbol or name, words=words or self.words)

    def within(self, low: float | None = None, high: float | None = None, ends: str = "", words: str = "") -> Self:
        """A part of the range. An end that is given is in it, unless `ends` excludes it."""
        brackets = ends or ("[" if low is not None else self.ends[0]) + ("]" if high is not None else self.ends[1])
        lower, upper = self.low if low is None else low, self.high if high is None else high
        return replace(self, low=lower, high=upper, ends=brackets, words=words or self.words)


@dataclass(frozen=True)
class Count(Quantity):
    """A whole number that functions and programs take."""

    type = int

    def require(self, value: object) -> int:
        """The argument as an int.

        Raises:
            DomainError: not an integer, or out of range.
        """
        return require_integer(self.name, value, int(self.low), None if math.isinf(self.high) else int(self.high))


# Models of the theory.

MACHINES = ("committee", "parity")
"""Outputs of a tree machine: the majority of its units, or their product."""

ALPHA = Quantity("alpha", "α", "patterns per weight, P/N", 1e-9, 1e9)
ALPHA_T = ALPHA.called("alpha_T", "α_T", "patterns per latent dimension, P/D")
INV_ALPHA = ALPHA.called("inv_alpha", "1/α", "weights per pattern, N/P")
ALPHA_T_OF_THRESHOLDS = ALPHA_T.within(1e-4, 1e2, words="patterns per latent dimension at `alpha_le` and `alpha_min`")
"""Where they were tried. Far beyond it their searches fail."""
ALPHA_OF_MINIMIZERS = ALPHA.within(1e-2, 1e2, words="patterns per weight of minimizers of the cross-entropy")
ALPHA_OF_TWO_UNITS = ALPHA.within(high=100.0, words="samples per input of the Bayes-optimal committee of two units")
ALPHA_OF_RUNS = ALPHA.within(high=1e3, words="patterns per weight of problems that are drawn")
INV_ALPHA_OF_RUNS = INV_ALPHA.within(high=1e6, words="weights per pattern of problems that are drawn")
MARGIN = Quantity("margin", "κ", "smallest stability of a solution", -4.0, 1e3)
"""Of binary weights. kappa_max is larger only below about 1e-6 patterns per weight, and smaller above 2e4."""
MARGIN_OF_RUNS = MARGIN.within(low=0.0, words="smallest stability of a solution, in programs")
MARGIN_OF_REFERENCE = MARGIN.called("margin_ref", "κ̃", "smallest stability of a reference")
MARGIN_OF_THRESHOLDS = MARGIN.within(high=5.0, words="smallest stability at `alpha_le` and `alpha_min`")
"""Where they were tried. Far beyond it their searches fail."""
MARGIN_OF_ALPHA_U = MARGIN.within(low=-2.5, high=3.0, words="smallest stability at `alpha_u`")
MARGIN_OF_FEATURES = MARGIN.within(
    low=-3.5, high=2.0, words="smallest stability at `alpha_le` and `alpha_min`, random features of variance 1"
)
"""Of other variances in proportion to their root."""
MARGIN_OF_SPHERE = MARGIN.within(high=100.0, words="smallest stability of weights on a sphere")
"""At -4 the capacity is about 1e5."""
MARGIN_OF_ONE_STEP = MARGIN.within(high=-1e-2, words="smallest stability at `capacity_one_step`, weights on a sphere")
"""Up to 0 the capacity changes less than 3e-7."""
MARGIN_OF_CLUSTERS = MARGIN_OF_ONE_STEP.within(low=-2.5, words="smallest stability at `de_almeida_thouless`")
"""There the replicon tells where typical solutions cease to be in one cluster."""

# Questions about solutions.

LARGEST_STABILITY = Quantity("largest_stability", "x", "right end of a grid of stabilities", 0.0, 20.0, "(]")
DISTANCE_OF_CURVE = Quantity("distance", "d", "distance of a curve, (1 − overlap)/2", 1e-9, 1.0, "[)")
"""At smaller distances the entropy is that of random flips."""
DISTANCE_OF_GROUPS = Quantity("distance", "d", "distance of a student of a group from its reference", 1e-4, 0.5)
"""At larger distances the reference with the other signs is nearer."""
DISTANCE = Quantity("distance", "d", "distance of a sphere around a solution", 1e-15, 1.0 - 1e-15)
"""Closer to an end the overlap 1 − 2d is ±1 in double precision."""
WIDTH_OF_BAND = Quantity("width", "width", "standard deviation of a band of a spectrum", 1e-60, 1e60)
WIDTH_OF_BIN = WIDTH_OF_BAND.called("width", words="width of a bin of stabilities")
FLIPS = Quantity("distance", "d", "part of the weights that is flipped", 0.0, 1.0)
LEVEL = Quantity("level", "level", "largest train error between solutions that are connected", 0.0, 1.0)
OVERLAP = Quantity("overlap", "q", "overlap in a group of solutions", 1e-3, 0.9999)
OVERLAP_OF_TEACHER = Quantity("overlap", "m", "overlap with a teacher", 0.0, 1.0, "[)")
OVERLAP_OF_MEANS = Quantity("overlap", "m", "overlap of means of weights with a reference", -1.0, 1.0, "()")
REPLICAS = Quantity(
    "replicas", "y", "replicas in a group around a reference", 1.0, 1e4, also=("math.inf", "'zero external entropy'")
)
REPLICAS_OF_GROUP = replace(REPLICAS, high=100.0, words="solutions in a group", also=("math.inf",))
REPLICAS_OF_BLOCK = Quantity("block", "m", "replicas in a block, of one step of replica-symmetry breaking", 1e-3, 1.0)
GAMMA = Quantity("gamma", "γ", "sharpness of the cross-entropy of minimizers", 0.1, 1e2, also=("math.inf",))
LOG_BETA = Quantity("log_beta", "ln β", "logarithm of the inverse temperature of the cross-entropy", -20.0, 2000.0)
LOG_BETA_OF_STEPS = LOG_BETA.within(high=300.0, words="logarithm of the inverse temperature of an energy of steps")
PERIOD = Quantity("period", "δ", "period of a square wave", 2.0, 1e3)
"""Labels of shorter ones hardly tell anything: at 1.5 the derivative of a free entropy is below its rounding."""
KAPPA = Quantity("kappa", "κ", "largest size of a stability of the symmetric perceptron", 1e-3, 5.0)

# Teachers of generalized linear models.

DENSITY = Quantity("density", "ρ", "share of a sparse teacher's weights that are not 0", 1e-3, 1.0)
CENTRE = Quantity("centre", "a", "centre of one of the two Gaussians of a teacher's weights", 0.0, 0.999)
NOISE_OF_LABELS = Quantity("noise", "Δ", "variance of the noise of a label", 0.0, 1e4)
WIDTH_OF_DOOR = Quantity("width", "κ", "half of the width of a door", 1e-2, 6.0)
"""Beyond, one of the two labels is rarer than 1e-8."""

# Linear students.

SAMPLES = Quantity("alpha", "α", "samples per weight of a student that minimises an empirical risk", 1e-3, 1e3)
SAMPLES_PER_FEATURE = SAMPLES.called("samples_per_feature", "n/p", "samples per feature of a hidden manifold")
INPUTS_PER_FEATURE = Quantity("inputs_per_feature", "d/p", "inputs per feature of a hidden manifold", 1e-4, 1e4)
REGULARIZATION = Quantity("regularization", "λ", "strength of the ridge, in the theory", 1e-14, 1e6)
MAGNITUDE = Quantity("variance", "ρ", "variance of labels, ridge", 1e-60, 1e60)
"""Of a ridge regression on inputs of a given covariance."""
EIGENVALUE = MAGNITUDE.called("eigenvalue", "ω", "largest eigenvalue of a covariance")
COEFFICIENT = Quantity(
    "coefficient", "E[yv]", "covariance of labels and inputs, eigenvalue of inputs", -MAGNITUDE.high, MAGNITUDE.high
)
NUMBER_OF_SAMPLES = Quantity("samples", "n", "samples of a ridge regression on inputs of a given covariance", 1.0, 1e12)
IMAGES = NUMBER_OF_SAMPLES.called("images", "M", "images in the set over which the moments are means")
RIDGE = Quantity("regularization", "r", "strength of the ridge on images", 1e-6, 1e6)
REGULARIZATION_OF_RUN = Quantity(
    "regularization", "λ", "strength of the ridge of a student that is trained", 1e-60, 1e60
)
TEMPERATURE = Quantity("temperature", "T", "temperature of a student", 0.0, 100.0, unit="training errors")
UPDATES = Count("updates", "t", "updates of state evolution", 1, 100_000)

# Sizes and numbers of runs.

SIZE = Count("N", "N", "weights, patterns, inputs or units; D, P, n, d, p and others alike", 1, 2**31 - 1)
INPUTS = SIZE.called("inputs", words="inputs of a network")
RANDOM_FEATURES = SIZE.called("random_features", "p", words="random features of images")
WIDTH = SIZE.called("width", words="units of a layer, or filters of the first one")
CLASSES = SIZE.within(low=2).called("classes", words="classes that a network tells apart")
LAYERS = Count("hidden_layers", "L", "hidden layers", 1, 1000)
UNITS = Count("units", "K", "hidden units of a committee machine", 1, 9999)
UNITS_OF_STUDENT = UNITS.within(low=2, high=200, words="hidden units of a Bayes-optimal student")
PATTERNS = Count("n", "n", "patterns that are drawn", 1, 10**8)
PROPOSALS = Count("proposals", "proposals", "midpoints of a path that are tried", 1, 10**8)
EIGENVALUES = Count("count", "count", "largest eigenvalues of a Hessian", 1, 1000)
LANCZOS = Count("steps", "steps", "products with a Hessian for each random vector", 1, 10_000)
DRAWS = Count("draws", "draws", "random draws that are kept", 1, 10**6)
RUNS = Count("samples", "samples", "instances, training sets or runs of a program", 1, 10_000)
POINTS = Count("points", "points", "points of a grid", 2, 10_000)
CHUNKS = Count("chunks", "chunks", "jobs that share the tasks", 1, 1000)
SEED = Count("seed", "seed", "root of random numbers", -(2**63), 2**64 - 1)
ROOT_SEED = SEED.within(0, 2**63 - 1, words="root of all random numbers of a configuration")

# Algorithms.

STEPS = Count("max_iterations", "steps", "most updates, at each coupling if there are several", 1, 10**8)
SWEEPS = STEPS.called("sweeps", words="most sweeps of N attempted flips")
SWEEPS_AFTER = SWEEPS.called("sweeps_after", words="sweeps from the first solution on").within(low=0)
PASSES = STEPS.called("passes", words="most passes over the patterns")
EPOCHS = STEPS.called("epochs", words="most passes over the patterns, or updates with all of them")
EPOCHS_AFTER = EPOCHS.called("epochs_after", words="passes over the patterns after the first without errors").within(
    low=0
)
EPOCHS_OF_CNN = EPOCHS.within(high=10**6, words="passes over the images of a CNN")
"""Losses and overlaps of all epochs are kept."""
COUPLINGS = Count("steps", "steps", "values of the coupling of focusing belief propagation", 1, 10**6)
BATCH = SIZE.called("batch", words="patterns in a mini-batch")
BLOCK_OF_PATTERNS = SIZE.called("block", words="patterns that are looked at together")
ITERATIONS = STEPS.called("iterations", words="most steps of a descent")
THETA = SIZE.called("theta", "θ", "largest sum that is reinforced, an odd number")
GROUP = SIZE.called("group", words="runs that are worked on together")
THREADS = Count("threads", "threads", "threads that compute", 1, 1024)
REPLICAS_OF_RULE = Count("replicas", "y", "replicas of the entropic least-action rule", 2, 10**4)
REPLICAS_OF_MESSAGES = Quantity("replicas", "y", "virtual replicas of focusing belief propagation", 1.0, 1e100, "(]")
EXPONENT = Quantity("exponent", "x", "exponent of the coupling of focusing belief propagation", 0.0, 1e100)
CAP = Quantity("cap", "cap", "largest tanh of the coupling of focusing belief propagation", 0.0, 1.0, "(]")
DAMPING = Quantity("damping", "damping", "share of the old messages that an update keeps", 0.0, 1.0, "[)")
TOLERANCE = Quantity("tolerance", "tolerance", "largest change or residual at convergence", 0.0, 1.0, "(]")
EPSILON = Quantity("epsilon", "ε", "range of the random initial magnetizations", 0.0, 1.0, "[)")
FIRST_FIELD = Quantity("epsilon", "ε", "standard deviation of the first fields on the weights", 1e-100, 100.0)
FIELD = Quantity("field", "h", "field on a weight", -30.0, 30.0)
"""tanh(30) is 1 in float64. Without a bound a weight could stay frozen for ever."""
PROBABILITY = Quantity("probability", "p", "probability of a random event", 0.0, 1.0)
REINFORCEMENT = PROBABILITY.called("reinforcement", "p_s", "probability of a reinforcement")
REINFORCED = PROBABILITY.within(high=1.0, ends="[)").called(
    "reinforcement", "ρ", "growth of the reinforcement of fields"
)
BETA = Quantity("beta", "β", "inverse temperature, or slope of tanh(βx)", 0.0, 1e100, "(]")
"""In double precision. Squares of it do not overflow."""
BETA_START = BETA.within(low=0.0).called("beta_start", "β", "inverse temperature of the first sweep")
BETA_STEP = BETA.within(low=0.0).called("beta_step", "Δβ", "increase of the inverse temperature in each sweep")
BETA_GROWTH = Quantity("beta_growth", "β₁", "β is multiplied by 1 + β₁ after each epoch", 0.0, 1e100)
GAMMA_OF_LOSS = BETA.called("gamma", "γ", "scale of the cross-entropy of gradient descent")
GAMMA_GROWTH = BETA_GROWTH.called("gamma_growth", "γ₁", "γ is multiplied by 1 + γ₁ after each epoch")
GAMMA_OF_ENERGY = Quantity("gamma", "γ", "sharpness of the cross-entropy of annealing", 1e-3, 1e6)
COUPLING = Quantity("coupling", "λ", "coupling of replicas", 0.0, 1e100, "(]")
COUPLING_START = COUPLING.called("coupling_start", "λ", "first coupling of focusing belief propagation")
COUPLING_END = COUPLING.called("coupling_end", "λ", "last coupling of focusing belief propagation")
COUPLING_GROWTH = BETA_GROWTH.called("coupling_growth", "λ₁", "λ is multiplied by 1 + λ₁ after each epoch")
SPREAD_OF_REPLICAS = COUPLING.called("tolerance", words="sum of the squared distances of replicas that have collapsed")
LEARNING_RATE = Quantity("learning_rate", "η", "step size", 0.0, 1e100, "(]")
"""In double precision."""
RATE_OF_SIGNS = LEARNING_RATE.within(high=1e9, ends="(]", words="step size of BinaryNet")
"""Squares of gradients do not overflow in single precision."""
SCALE_OF_SIGNS = RATE_OF_SIGNS.called("logit_scale", "c√N", "scale of the pre-activation in the loss of BinaryNet")
RATE_OF_RULE = LEARNING_RATE.within(high=1e6, ends="(]", words="step size of the least-action rule")
"""Corrections that cancel must leave the weights, of order 1, as they were."""
RATE_OF_NETWORKS = LEARNING_RATE.within(high=1e30, ends="(]", words="step size of networks")
"""In single precision. Larger ones are hardly numbers."""
MARGIN_OF_NETWORKS = RATE_OF_NETWORKS.called("margin", "margin", "margin of the square-hinge loss")
RATE_OF_BINARY = RATE_OF_NETWORKS.within(low=1e-30, words="step size of networks with binary weights")
SCALE_OF_BINARY = RATE_OF_BINARY.called("logit_scale", "c", "scale of the logits of networks with binary weights")
MOMENTUM = Quantity("momentum", "momentum", "momentum of gradient descent", 0.0, 1.0, "[)")
SMALLEST_LOSS = Quantity(
    "smallest_loss", "loss", "loss over margin² at which a network without errors has finished", 0.0, 1e30
)
GAIN = Quantity("gain", "gain", "factor of the orthogonal weights of hidden layers", 1e-30, 1e30)
SPREAD = Quantity("spread", "spread", "range of the initial real weights, which are clipped at 1", 0.0, 1.0, "(]")
STEP_OF_FLOW = Quantity("step", "η", "step of Euler's rule, in the time of the flow", 0.0, 1e100, "(]")
LOSS = Quantity("loss_tolerance", "loss", "loss below which a run ends", 0.0, 1e100, "(]")
SPEED = Quantity("speed_tolerance", "speed", "speed of the weights below which a run ends", 0.0, 1e100, "(]")
SUCCESS = Quantity("success_overlap", "m", "overlap with the teacher above which a run is a success", 0.0, 1.0, "()")
NOISE = Quantity("sigma", "σ", "standard deviation of the relative noise on weights", 0.0, 1e6)
SECONDS = Quantity("seconds", "t", "time between two checkpoints", 0.0, math.inf, unit="seconds")

# Analysis.

SHARE = Quantity("least", "p", "share of solved runs", 0.0, 1.0)
SMALLEST_SHARE = Quantity("smallest", "ε", "smallest eigenvalue that is kept, relative to the largest", 0.0, 1.0, "[)")
FITTED_SIZE = Quantity("size", "N", "size of a point that is fitted", 1e-60, 1e60)
FITTED_ERROR = FITTED_SIZE.called("error", words="standard error of a point that is fitted")
FITTED_MEAN = Quantity("mean", "y", "mean of a point that is fitted", -1e60, 1e60)
ERROR = Quantity("y_err", "error", "standard error", 0.0, LARGEST)
