"""Nanoseconds per edge of the message-passing kernels, next to the matrix products that no update can do without.

    OPENBLAS_NUM_THREADS=1 python benchmarks/belief_propagation.py

N = 1001 weights, P = 500 random patterns, one thread, CPU time, best of several. Every update is at least two products
of the patterns with a vector, which the library makes in single precision and, for AMP, also in double precision. A run
is held against as many sweeps of its own kind and order. "To reach" are the times that these kernels were to have on a
Zen 4 server.
"""

import numpy as np
from scipy.special import log_ndtr
from timing import fastest

from localentropy.instances.generalized_linear import generalized_linear
from localentropy.instances.perceptron import random_patterns
from localentropy.numerics.compiled import kernel
from localentropy.numerics.gaussian_kernels import log_tail
from localentropy.solvers.amp import amp_in_fields
from localentropy.solvers.amp_kernels import amp_update
from localentropy.solvers.binary.focusing_bp import focusing_bp
from localentropy.solvers.binary.messages import Messages, Update
from localentropy.solvers.generalized_amp import generalized_amp

N, P, RUNS = 1001, 500, 32
EDGES = N * P


@kernel
def all_log_tails(x: np.ndarray, out: np.ndarray) -> None:
    """ln H of every entry."""
    for i in range(x.size):
        out[i] = log_tail(x[i])


def report(what: str, spent: float, limit: float, limit_is: str, target: str, unit: str = "ns") -> None:
    print(
        f"{what:46s} {spent:8.3f} {unit}   {spent / limit:6.2f} × {limit_is} ({limit:.3f} {unit}); to reach: {target}"
    )


def two_products(inputs: np.ndarray, weights: np.ndarray, factors: np.ndarray) -> float:
    """Nanoseconds per edge of one product with a vector on either side."""
    return fastest(lambda: (inputs @ weights, factors @ inputs), 20, 5) / inputs.size * 1e9


def main() -> None:
    instance = random_patterns(N, P, seed=0)
    rng = np.random.default_rng(0)

    x, out = rng.normal(0, 4, EDGES), np.empty(EDGES)
    scipy_tail = fastest(lambda: log_ndtr(x), 5) / EDGES * 1e9
    tail = fastest(lambda: all_log_tails(x, out), 5) / EDGES * 1e9
    report("ln H, one value", tail, scipy_tail, "scipy log_ndtr", "1 ×")

    single = instance.signed_patterns.astype(np.float32)
    m, g, incoming, labels = rng.uniform(-0.5, 0.5, N), np.zeros(P), np.empty(N), np.ones(P)
    products32 = two_products(single, m.astype(np.float32), g.astype(np.float32))
    products64 = two_products(single.astype(np.float64), m, g)
    for name, how, frozen, target in (
        ("sweep, exact", Update(damping=0.5, adaptive=False), False, "6 ns"),
        ("sweep, expanded", Update("expanded", damping=0.5, adaptive=False), False, "3 ns"),
        ("sweep, exact, sequential", Update("exact", "sequential", 0.0, False), False, "6 ns"),
        ("sweep, expanded, sequential", Update("expanded", "sequential", 0.0, False), False, "3 ns"),
        ("sweep, exact, weights nearly frozen (logs)", Update(damping=0.5, adaptive=False), True, "35 ns"),
    ):
        messages = Messages(instance, 0.0, how, rng, 0.1)
        for _ in range(10):
            messages.sweep()
        if frozen:
            # Sent again and again, but never settled: the fields and the variance of all sums stay as they are.
            messages.total = np.copysign(6.0, messages.total)
        spent = fastest(messages.send if frozen else messages.sweep, 20, 5) / EDGES * 1e9
        report(name, spent, products32, "two GEMV (f32)", target)

    update_time = fastest(lambda: amp_update(False, single, labels, 0.0, 700.0, m, g, incoming), 20, 5) / EDGES * 1e9
    for products, kind in ((products64, "two GEMV (f64)"), (products32, "two GEMV (f32)")):
        report("AMP update", update_time, products, kind, "1.5 ×")

    fields = rng.uniform(-0.3, 0.3, (RUNS, N)).astype(np.float32)
    gain = np.zeros((RUNS, P), np.float32)
    batch = fastest(lambda: (fields @ single.T, gain @ single), 10, 2) / (EDGES * RUNS) * 1e9
    # The difference of a long and a short run, to leave out what is done once.
    short, long = (
        fastest(lambda: amp_in_fields(instance, fields, max_iterations=count, tolerance=1e-30), 5)  # noqa: B023
        for count in (5, 25)
    )
    report(f"AMP, {RUNS} runs at once", (long - short) / (20 * EDGES * RUNS) * 1e9, batch, "two GEMM (f32)", "0.07 ns")

    for name, options in (
        ("default protocol", {}),
        ("sequential, expanded", {"order": "sequential", "update": "expanded", "damping": 0.0}),
    ):
        run = focusing_bp(instance, seed=0, stop="first", tolerance=1e-3, **options)  # type: ignore[arg-type]
        messages = Messages(instance, 0.0, Update(**options), rng, 0.1)  # type: ignore[arg-type]
        bare = run.iterations * fastest(messages.sweep, 20, 5)
        what = f"fBP to E = 0, {name}, {run.iterations} sweeps"
        report(what, run.cpu_seconds, bare, "its sweeps", "0.13 s", "s ")

    for prior, channel, load in (("gaussian", "sign", 2.0), ("binary", "sign", 1.2), ("gaussian", "absolute", 1.4)):
        problem = generalized_linear(round(load * 2000), 2000, 0, prior=prior, channel=channel)
        learned = min((generalized_amp(problem, seed=0) for _ in range(3)), key=lambda run: run.cpu_seconds)
        arrays = (array.astype(np.float32) for array in (problem.inputs, problem.teacher, problem.labels))
        bare = learned.iterations * two_products(*arrays) * problem.inputs.size / 1e9
        what = f"AMP, d = 2000, {prior}, {channel}, {learned.iterations} updates"
        report(what, learned.cpu_seconds, bare, "their products (f32)", "2 s", "s ")


if __name__ == "__main__":
    main()
