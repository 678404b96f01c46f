"""Franz-Parisi entropy: stationarity, an independent solver, limits, laws, node doubling, quoted numbers."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError
from localentropy.numerics.saddle_point import solve
from localentropy.numerics.special import log_tail, tail
from localentropy.replica import random_features as rf
from localentropy.replica.random_features_curve import FranzParisiCurve
from localentropy.replica.random_features_franz_parisi import FranzParisiFreeEntropy
from tests.helpers import FIVE_POINTS, five_point_slope

MODEL: dict[str, Any] = {"alpha_T": 3.0, "inv_alpha": 1.2}
CURVES = [
    # alpha_T, 1/alpha, margin_ref, margin, activation, distances
    (3.0, 1.2, 0.1, 0.0, "sign", (0.01, 0.2, 0.4)),
    (3.0, 1.2, 0.0, 0.0, "sign", (0.005, 0.1, 0.35)),
    (0.5, 3.0, "max", 0.1, "tanh", (0.1, 0.3)),
    (8.0, 2.0, 0.2, 0.2, "erf", (0.02, 0.45)),
    (2.0, 20.0, "max", 0.0, "sign", (0.2, 0.3)),
    (2.0, 3.0, 0.3, 0.0, "identity", (0.05,)),
]


@lru_cache
def curve_of(alpha_T, inv_alpha, margin_ref, margin, activation) -> FranzParisiCurve:
    return rf._curve(alpha_T, inv_alpha, margin_ref, margin, activation)


def problem_at(curve, distance, **nodes) -> FranzParisiFreeEntropy:
    return FranzParisiFreeEntropy(curve.reference, curve.student.margin, 1 - 2 * distance, **nodes)


@pytest.mark.parametrize("case", CURVES)
def test_stationary_by_finite_differences_of_the_free_entropy(case):
    curve = curve_of(*case[:5])
    for distance in case[5]:
        # More nodes than in use: differences over short steps magnify errors of quadrature.
        problem, x = problem_at(curve, distance, nodes=(72, 96, 44)), curve.at(distance).parameters
        room = float(np.min(problem.positive(x)))
        # An equation that is wrong shows in every direction: in each, all violations add up with random signs.
        lengths = 3e-3 * np.minimum(room, np.maximum(np.abs(x), room)) / 15
        for signs in np.random.default_rng(15).choice([-1.0, 1.0], (3, 15)):
            step = signs * lengths
            values = [problem.value(torch.from_numpy(x + n * step)).item() for n in FIVE_POINTS]
            change = five_point_slope(values, 1.0)
            assert abs(change) < 2e-6 * np.min(problem.scales * lengths) + 3e-15


@pytest.mark.parametrize("case", CURVES)
def test_doubling_the_nodes_changes_nothing(case):
    curve = curve_of(*case[:5])
    for distance in case[5]:
        point = curve.at(distance)
        fine = problem_at(curve, distance, nodes=(96, 128, 64), student_nodes=256)
        assert solve(fine, point.parameters).value == pytest.approx(point.entropy, abs=1e-8)


def naive_pair_energy(energy, fields):
    """Twin: the triple integral as it is written, in its own coordinates z, y, x; torch derivatives."""
    Q, Q_d, R, S, T = fields
    V, V_ref = Q_d - Q, energy.Q_d_ref - energy.Q_ref
    rho = energy.R_ref / energy.Q_ref**0.5
    a, b = T / energy.Q_ref**0.5, (S - T) / V_ref**0.5
    gamma = torch.sqrt(Q - a * a - b * b)
    epsilon = (R - energy.R_ref * T / energy.Q_ref) / (gamma * (1 - rho**2) ** 0.5)
    t, weight = np.polynomial.legendre.leggauss(64)
    z, w = torch.tensor(9 * t), torch.tensor(9 * weight * norm.pdf(9 * t))
    bound = (energy.margin_ref - energy.Q_ref**0.5 * z) / V_ref**0.5
    start = bound.clamp(min=-9.0)
    length = torch.sqrt(start.clamp(min=0.0) ** 2 + 81.0) - start
    x = start[:, None] + length[:, None] * torch.tensor(0.5 * (t + 1))
    log_w = -0.5 * x * x - 0.5 * np.log(2 * np.pi) - log_tail(bound)[:, None]
    w_x = torch.exp(log_w) * length[:, None] * torch.tensor(0.5 * weight)
    slope = (1 - rho**2) ** 0.5
    U = (rho * z[:, None] + slope * epsilon * z) / (slope * torch.sqrt(1 - epsilon**2))
    h = (energy.margin - a * z[:, None, None] - gamma * z[None, :, None] - b * x[:, None, :]) / torch.sqrt(V)
    return 2 * torch.einsum("z,y,zy,zx,zyx->", w, w, tail(-U), w_x, log_tail(h))


@pytest.mark.parametrize("distance", [0.02, 0.15, 0.45])
def test_pair_energy_and_its_written_out_derivatives(distance):
    curve = curve_of(3.0, 1.2, 0.1, 0.0, "sign")
    x, moments = curve.at(distance).parameters, curve.student.moments
    square, noise = moments.mu_1**2, moments.mu_star_squared
    q, p, p_d, r, P_S, t, P_t = x[:7]
    fields = torch.tensor(
        [noise * q + square * p, noise + square * p_d, moments.mu_1 * r,
         noise * (1 - 2 * distance) + square * P_S, noise * t + square * P_t],
        requires_grad=True,
    )  # fmt: skip
    energy = problem_at(curve, distance).energy
    twin = naive_pair_energy(energy, fields)
    (twin_gradient,) = torch.autograd.grad(twin, fields, create_graph=True)
    value = energy.free_entropy(fields)
    (gradient,) = torch.autograd.grad(value, fields, create_graph=True)
    assert value.item() == pytest.approx(twin.item(), abs=1e-8)
    torch.testing.assert_close(gradient, twin_gradient, rtol=1e-6, atol=1e-7)
    for row in range(5):
        exact = torch.autograd.grad(twin_gradient[row], fields, retain_graph=True)[0]
        steered = torch.autograd.grad(gradient[row], fields, retain_graph=True)[0]
        torch.testing.assert_close(steered, exact, rtol=1e-3, atol=1e-3)


def fixed_point(curve, distance, sweeps=3000):
    """Twin: the explicit saddle-point equations of the Franz-Parisi entropy, damped; own quadrature, numpy.

    Returns its order parameters (q, p, p_d, r, P_S, t, P_t), conjugates and nothing of the solver's.
    """
    student, margin_ref = curve.student, curve.reference.ensemble.margin
    alpha, alpha_T, alpha_D = student.alpha, student.alpha_T, student.alpha_D
    mu_1, noise = student.moments.mu_1, student.moments.mu_star_squared
    q_r, p_r, pd_r, r_r, qh_r, ph_r, pdh_r, _ = curve.reference.parameters
    Q_r, Qd_r, R_r = noise * q_r + mu_1**2 * p_r, noise + mu_1**2 * pd_r, mu_1 * r_r
    V_r, v_r, A_r = Qd_r - Q_r, 1 - q_r, ph_r + pdh_r
    M_r, rho = 1 + A_r * v_r, R_r / np.sqrt(Q_r)
    X, Y, Y_1 = (pd_r - 2 * q_r / M_r + q_r) / v_r - 1, (pd_r - q_r / M_r) / v_r, (p_r - q_r / M_r) / v_r
    node, weight = np.polynomial.legendre.leggauss(44)
    z, w = 7.5 * node, 7.5 * weight * norm.pdf(7.5 * node)
    x_0 = (margin_ref - np.sqrt(Q_r) * z) / np.sqrt(V_r)
    low = np.maximum(x_0, -7.5)
    span = np.sqrt(np.maximum(low, 0) ** 2 + 56) - low
    x = low[:, None] + span[:, None] * (node + 1) / 2
    w_x = np.exp(norm.logpdf(x) - log_ndtr(-x_0)[:, None]) * span[:, None] * weight / 2

    def hazard(h):
        return np.exp(norm.logpdf(h) - log_ndtr(-h))

    pull_r = hazard(x_0) / np.sqrt(V_r)
    fine, w_f = np.polynomial.legendre.leggauss(80)
    g, w_g = 8 * fine, 8 * w_f * norm.pdf(8 * fine)
    S = 1 - 2 * distance
    q, p, p_d, r, P_S, t, P_t = curve.at(distance * 1.05).parameters[:7]
    for _ in range(sweeps):
        Q, R = noise * q + mu_1**2 * p, mu_1 * r
        SS, T, V = noise * S + mu_1**2 * P_S, noise * t + mu_1**2 * P_t, noise * (1 - q) + mu_1**2 * (p_d - p)
        a, b = T / np.sqrt(Q_r), (SS - T) / np.sqrt(V_r)
        gamma = np.sqrt(Q - a * a - b * b)
        eps = (R - R_r * T / Q_r) / (gamma * np.sqrt(1 - rho**2))
        scale = np.sqrt((1 - rho**2) * (1 - eps**2))
        U = (rho * z[:, None] + np.sqrt(1 - rho**2) * eps * z) / scale
        base = student.margin - a * z[:, None] - gamma * z
        h = (base[:, :, None] - b * x[:, None, :]) / np.sqrt(V)
        G = hazard(h)
        agree = 2 * w[:, None] * w * ndtr(U)
        mean_G = np.einsum("zyx,zx->zy", G, w_x)
        g_squared = np.einsum("zy,zyx,zx->", agree, G * G, w_x) / V
        minus_slope = np.einsum("zy,zyx,zx->", agree, G * (G - h), w_x) / V
        at_zero = np.sum(2 * w[:, None] * w * norm.pdf(U) / scale * mean_G) / np.sqrt(V)
        cross = np.sum(agree * pull_r[:, None] * mean_G) / np.sqrt(V)
        at_bound = hazard((base - b * x_0[:, None]) / np.sqrt(V))
        by_S = np.sum(agree * pull_r[:, None] * at_bound) / np.sqrt(V)
        A, ph, rh = alpha_T * mu_1**2 * minus_slope, alpha_T * mu_1**2 * g_squared, alpha_T * mu_1 * at_zero
        PSh, Pth = alpha_T * mu_1**2 * by_S, alpha_T * mu_1**2 * cross

        def moments(q, t, A=A, ph=ph, rh=rh, PSh=PSh, Pth=Pth):
            e, c = S - t, PSh - Pth
            m_2 = q - 2 * t * e * A_r / M_r + e * e / v_r * X
            B_2 = rh**2 + ph + 2 * rh * c * r_r + 2 * Pth * c * v_r / M_r + c * c * pd_r
            bb = rh * r_r * e / v_r + Pth * e / M_r + c * (t / M_r + e * Y)
            return e, c, m_2, B_2, bb

        e, c, m_2, B_2, bb = moments(q, t)
        M = 1 + A * (1 - q)
        qh = alpha_D * (B_2 - 2 * A * bb + A * A * m_2) / M**2 + alpha * noise * g_squared
        d_b = -rh * r_r / v_r - Pth / M_r + c * (1 / M_r - Y)
        d_m = -2 * (S - 2 * t) * A_r / M_r - 2 * e / v_r * X
        th = -alpha_D * (2 * d_b - A * d_m) / (2 * M) + alpha * noise * cross
        root = np.sqrt(qh_r)
        odds = 2 * ndtr(0) * w_g / (1 + np.exp(-2 * root * g)) * 2  # weight of the sign of the reference

        def field(Sh, th=th, qh=qh, root=root):
            return np.sqrt(qh - th**2 / qh_r) * g + (th / root * g + Sh - th)[:, None]

        Sh = brentq(lambda Sh, field=field, odds=odds: odds @ np.tanh(field(Sh)) @ w_g - S, -60, 60, xtol=1e-14)
        tanh = np.tanh(field(Sh))
        new_q = odds @ tanh**2 @ w_g
        new_t = (odds * np.tanh(root * g)) @ tanh @ w_g
        e, c, m_2, B_2, bb = moments(new_q, new_t)
        v = 1 - new_q
        M = 1 + A * v
        new_p = (m_2 + 2 * v * bb + v * v * B_2) / M**2
        common = rh * r_r + Pth * v_r / M_r
        new = np.array([
            new_q, new_p, new_p + v / M, (e * r_r / v_r + v * (rh + c * r_r)) / M,
            (new_t / M_r + e * Y + v * (common + c * pd_r)) / M,
            new_t, (new_t / M_r + e * Y_1 + v * (common + c * p_r)) / M,
        ])  # fmt: skip
        old = np.array([q, p, p_d, r, P_S, t, P_t])
        q, p, p_d, r, P_S, t, P_t = 0.5 * (old + new)
        if np.max(np.abs(new - old)) < 1e-11:
            break
    return np.array([q, p, p_d, r, P_S, t, P_t, qh, ph, A - ph, rh, Sh, PSh, th, Pth])


@pytest.mark.parametrize(
    ("case", "distance"), [((3.0, 1.2, 0.1, 0.0, "sign"), 0.15), ((1.0, 3.0, 0.3, 0.1, "tanh"), 0.2)]
)
def test_equals_the_fixed_point_of_the_explicit_equations(case, distance):
    curve = curve_of(*case)
    np.testing.assert_allclose(curve.at(distance).parameters, fixed_point(curve, distance), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("case", CURVES)
def test_slope_is_the_derivative_of_the_entropy(case):
    curve = curve_of(*case[:5])
    for distance in case[5]:
        step = 1e-3 * distance
        values = [curve.at(distance + n * step).entropy for n in FIVE_POINTS]
        slope = five_point_slope(values, step)
        assert curve.at(distance).slope == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("margin_ref", "margin"), [(0.0, 0.0), (0.02, 0.0), (0.1, 0.0), ("max", 0.0), (0.1, 0.1)])
def test_at_the_typical_distance_it_is_the_total_entropy(margin_ref, margin):
    total = rf.typical(**MODEL, margin=margin).entropy
    distance = rf.typical_distance(**MODEL, margin_ref=margin_ref, margin=margin)
    table = rf.franz_parisi(distance * np.array([0.98, 1.0, 1.02]), **MODEL, margin_ref=margin_ref, margin=margin)
    assert table.attrs["typical_distance"] == distance
    assert table.entropy[1] == pytest.approx(total, abs=1e-9)
    assert table.slope[1] == pytest.approx(0, abs=1e-7)
    assert table.entropy[[0, 2]].max() < total
    assert table.entropy[[0, 2]].min() > total - 2e-4


@pytest.mark.parametrize("margin_ref", [0.0, 0.1])
def test_smooth_through_the_maximum(margin_ref):
    """At equal margins the free entropy is singular at the maximum, the curve is not."""
    distance = rf.typical_distance(**MODEL, margin_ref=margin_ref)
    steps = np.array([-1e-3, -3e-4, -2e-5, -1e-8, 0.0, 1e-8, 2e-5, 3e-4, 1e-3])
    table = rf.franz_parisi(distance * (1 + steps), **MODEL, margin_ref=margin_ref)
    curvature = (table.slope.iloc[-1] - table.slope.iloc[0]) / (2e-3 * distance)
    np.testing.assert_allclose(table.slope, curvature * distance * steps, rtol=1e-3, atol=1e-10)
    total = rf.typical(**MODEL).entropy
    np.testing.assert_allclose(table.entropy, total + 0.5 * curvature * (distance * steps) ** 2, atol=1e-9)


def test_vanishes_at_zero_distance():
    distances = np.array([1e-5, 1e-4, 1e-3])
    table = rf.franz_parisi(distances, **MODEL, margin_ref="max")
    np.testing.assert_allclose(table.entropy[:2], rf.binary_entropy(distances[:2]), rtol=1e-5)
    assert (table.entropy > 0).all()


@pytest.mark.parametrize("inv_alpha", [1.2, 20.0, 1000.0])
def test_bounded_by_the_number_of_configurations(inv_alpha):
    distances = np.geomspace(1e-3, 0.5, 8)
    gap = rf.binary_entropy(distances) - rf.franz_parisi(distances, 3.0, inv_alpha, 0.1).entropy.to_numpy()
    assert (gap > 0).all()
    if inv_alpha == 1000.0:
        assert gap.max() < 2e-3


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_small_distance_law_for_equal_margins(margin):
    """phi = -d ln d + d - C sqrt(d): random flips add a noise of variance 4d to each stability."""
    solution = rf.typical(**MODEL, margin=margin)
    mu_1, noise = np.sqrt(2 / np.pi), 1 - 2 / np.pi
    Q, Q_d, R = noise * solution.q + mu_1**2 * solution.p, noise + mu_1**2 * solution.p_d, mu_1 * solution.r
    V = Q_d - Q
    z, w = np.polynomial.legendre.leggauss(400)
    z, w = 9 * z, 9 * w * norm.pdf(9 * z)
    h = (margin - np.sqrt(Q) * z) / np.sqrt(V)
    density = 2 * w @ (ndtr(R * z / np.sqrt(Q - R * R)) * np.exp(norm.logpdf(h) - log_ndtr(-h))) / np.sqrt(V)
    distances = np.array([0.01, 0.02])
    entropy = rf.franz_parisi(distances, **MODEL, margin_ref=margin, margin=margin).entropy.to_numpy()
    coefficient = (-distances * np.log(distances) + distances - entropy) / np.sqrt(distances)
    # The next orders, cubes of sqrt(d) and its logarithm, leave 1 %.
    np.testing.assert_allclose(coefficient, 0.955071 / 1.2 * density, rtol=0.015)


def test_quoted_numbers_of_figure_3():
    assert rf.typical_distance(**MODEL, margin_ref=0.0) == pytest.approx(0.3021, abs=5e-5)
    assert rf.typical_distance(**MODEL, margin_ref="max") == pytest.approx(0.2616, abs=5e-5)
    isolated = rf.franz_parisi([0.0193 * 0.99, 0.0193 * 1.01], **MODEL, margin_ref=0.0)
    assert isolated.entropy[0] < 0 < isolated.entropy[1]
    dip = rf.franz_parisi(np.geomspace(0.0015, 0.02, 30), **MODEL, margin_ref=0.05)
    assert dip.entropy.min() == pytest.approx(0.000518, abs=2e-6)
    assert dip.distance[dip.entropy.idxmin()] == pytest.approx(0.003, rel=0.06)
    assert rf.franz_parisi([0.0035], **MODEL, margin_ref=0.05).entropy[0] == pytest.approx(0.00056, abs=5e-6)
    shell = rf.franz_parisi(np.geomspace(1e-4, 0.02, 12), **MODEL, margin_ref=0.03)
    assert shell.entropy[0] > 0 > shell.entropy.min()
    monotonic = rf.franz_parisi(np.geomspace(1e-4, 0.26, 25), **MODEL, margin_ref=0.1)
    assert (monotonic.slope > 0).all()


@pytest.mark.parametrize("gap", [1e-12, 1e-8, 2e-6])
def test_nearly_equal_margins(gap):
    """The entropy is smooth in the margin of the reference: it is linear at equal margins."""
    model = MODEL | {"margin": 0.1}
    table, equal, aside = (rf.franz_parisi([0.35], **model, margin_ref=0.1 + g) for g in (gap, 0.0, 1e-4))
    slope = (aside.entropy[0] - equal.entropy[0]) / 1e-4
    assert table.entropy[0] == pytest.approx(equal.entropy[0] + slope * gap, abs=1e-12 + 1e-2 * gap)
    moved = (aside.attrs["typical_distance"] - equal.attrs["typical_distance"]) / 1e-4 * gap
    assert table.attrs["typical_distance"] - equal.attrs["typical_distance"] == pytest.approx(
        moved, rel=1e-2, abs=1e-11
    )


def test_fields_beyond_the_domain_are_refused():
    curve = curve_of(3.0, 1.2, 0.1, 0.0, "sign")
    energy = problem_at(curve, 0.2).energy
    fields = torch.tensor([0.8, 1.3, 2.0, 0.5, 0.4], dtype=torch.float64)
    V, gamma_squared, rest = energy.positive(*fields.tolist())
    assert V > 0 and gamma_squared > 0 > rest
    with pytest.raises(ConvergenceError, match="energetic term"):
        energy.free_entropy(fields)


def test_order_of_distances_does_not_matter():
    distances = [0.4, 0.01, 0.2, 0.4, 0.05]
    table = rf.franz_parisi(distances, **MODEL, margin_ref=0.1)
    assert table.distance.tolist() == distances
    alone = rf.franz_parisi([0.01], **MODEL, margin_ref=0.1)
    assert alone.entropy[0] == pytest.approx(table.entropy[1], abs=1e-9)
    assert list(table.columns) == ["distance", "entropy", "slope", "residual"]
    assert (table.residual < 1e-6).all()


def test_frozen_region_raises_or_is_marked():
    """Next to a reference of equal margin the replica-symmetric solution ends where q reaches 1."""
    with pytest.raises(ConvergenceError) as failure:
        rf.franz_parisi([1e-4], **MODEL, margin_ref=0.0)
    assert failure.value.point["distance"] == pytest.approx(0.00118, rel=0.03)
    assert failure.value.point["q"] > 0.999
    marked = rf.franz_parisi([1e-4, 0.01], **MODEL, margin_ref=0.0, unsolved="nan")
    assert np.isnan(marked.entropy[0])
    assert marked.entropy[1] == pytest.approx(-0.0132442, abs=1e-6)
