"""Nanoseconds per edge of the message-passing kernels, next to what bounds them: bare matrix products, scipy's tails.

    OPENBLAS_NUM_THREADS=1 python benchmarks/belief_propagation.py

N = 1001 weights, P = 500 random patterns, one thread, CPU time, best of several. "To reach" are the times that these
kernels were to have on a Zen 4 server.
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


def main() -> None:
    instance = random_patterns(N, P, seed=0)
    rng = np.random.default_rng(0)

    x, out = rng.normal(0, 4, EDGES), np.empty(EDGES)
    scipy_tail = fastest(lambda: log_ndtr(x), 5) / EDGES * 1e9
    tail = fastest(lambda: all_log_tails(x, out), 5) / EDGES * 1e9
    report("ln H, one value", tail, scipy_tail, "scipy log_ndtr", "1 ×")

    two_tails = 2 * scipy_tail
    for name, update, frozen, target in (
        ("sweep, exact", "exact", False, "6 ns"),
        ("sweep, expanded", "expanded", False, "3 ns"),
        ("sweep, exact, weights nearly frozen (logs)", "exact", True, "35 ns"),
    ):
        messages = Messages(instance, 0.0, Update(update, damping=0.5, adaptive=False), rng, 0.1)
        for _ in range(10):
            messages.sweep()
        if frozen:
            # Sent again and again, but never settled: the fields and the variance of all sums stay as they are.
            messages.total = np.copysign(6.0, messages.total)
        spent = fastest(messages.send if frozen else messages.sweep, 20, 5) / EDGES * 1e9
        report(name, spent, two_tails, "two scipy tails", target)

    patterns = instance.signed_patterns.astype(np.float64)
    single = instance.signed_patterns.astype(np.float32)
    m, g, incoming, labels = rng.uniform(-0.5, 0.5, N), np.zeros(P), np.empty(N), np.ones(P)
    products = fastest(lambda: (patterns @ m, patterns.T @ g), 20, 5) / EDGES * 1e9
    update_time = fastest(lambda: amp_update(False, single, labels, 0.0, 700.0, m, g, incoming), 20, 5) / EDGES * 1e9
    report("AMP update", update_time, products, "two GEMV (f64)", "1.5 ×")

    fields = rng.uniform(-0.3, 0.3, (RUNS, N)).astype(np.float32)
    gain = np.zeros((RUNS, P), np.float32)
    batch = fastest(lambda: (fields @ single.T, gain @ single), 10, 2) / (EDGES * RUNS) * 1e9
    # The difference of a long and a short run, to leave out what is done once.
    short, long = (
        fastest(lambda: amp_in_fields(instance, fields, max_iterations=count, tolerance=1e-30), 5)  # noqa: B023
        for count in (5, 25)
    )
    report(f"AMP, {RUNS} runs at once", (long - short) / (20 * EDGES * RUNS) * 1e9, batch, "two GEMM (f32)", "0.07 ns")

    sweep = Messages(instance, 0.0, Update(), rng, 0.1)
    one = fastest(sweep.sweep, 20, 5)
    for name, options in (
        ("default protocol", {}),
        ("sequential, expanded", {"order": "sequential", "update": "expanded", "damping": 0.0}),
    ):
        run = focusing_bp(instance, seed=0, stop="first", tolerance=1e-3, **options)  # type: ignore[arg-type]
        what = f"fBP to E = 0, {name}, {run.iterations} sweeps"
        report(what, run.cpu_seconds, run.iterations * one, "its sweeps, bare", "0.45 s", "s ")

    for prior, channel, load in (("gaussian", "sign", 2.0), ("binary", "sign", 1.2), ("gaussian", "absolute", 1.4)):
        problem = generalized_linear(round(load * 2000), 2000, 0, prior=prior, channel=channel)
        learned = min((generalized_amp(problem, seed=0) for _ in range(3)), key=lambda run: run.cpu_seconds)
        X, a, g = problem.inputs, problem.teacher, problem.labels
        bare = learned.iterations * fastest(lambda: (X @ a, g @ X), 5)  # noqa: B023
        what = f"AMP, d = 2000, {prior}, {channel}, {learned.iterations} updates"
        report(what, learned.cpu_seconds, bare, "their products, bare", "2 s", "s ")


if __name__ == "__main__":
    main()
