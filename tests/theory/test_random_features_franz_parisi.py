"""Franz-Parisi entropy: the paper's formula, an independent solver, limits, laws, node doubling, quoted numbers."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError
from localentropy.numerics.curvature import differences
from localentropy.numerics.jets import variables
from localentropy.numerics.saddle_point import TOLERANCE, solve
from localentropy.theory import (
    Perceptron,
    RandomFeatures,
    TreeCommittee,
    TypicalSolution,
    binary_entropy,
    franz_parisi,
    sites,
    typical,
    typical_distance,
)
from localentropy.theory.franz_parisi_entropy import (
    WEAK,
    FranzParisi,
    FranzParisiCurve,
    curve_around,
    curve_point,
    from_random_flips,
)
from localentropy.theory.pair_energy import NODES, PairEnergy, Reference
from tests.finite_differences import five_point_slope, five_points, slope_at

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
NAMES = (
    "q", "p", "p_d", "r", "P_S", "t", "P_t",
    "q_hat", "p_hat", "p_d_hat", "r_hat", "S_hat", "P_S_hat", "t_hat", "P_t_hat",
)  # fmt: skip


@lru_cache
def curve_of(alpha_T, inv_alpha, margin_ref, margin, activation) -> FranzParisiCurve:
    return curve_around(RandomFeatures(alpha_T, inv_alpha, margin, activation), margin_ref)


@lru_cache
def typical_of(curve) -> TypicalSolution:
    """The reference."""
    return typical(curve.student.at(margin=curve.reference.covariances.margin))


def weak_problem(curve, distance) -> FranzParisi:
    """The free entropy at a distance, with its own energetic term."""
    energy = PairEnergy(curve.reference.covariances)
    return FranzParisi(curve.student, curve.reference, math.log(distance), energy)


def difference(curve, distance) -> tuple[dict[str, float], np.ndarray]:
    """Order parameters of u = w - S w_ref at a distance, by name, and the fields s, X, V, Y, Z, R of the two."""
    y = curve.point(math.log(distance)).coordinates
    spread, ref = 4 * distance * (1 - distance), typical_of(curve)
    jets = variables(np.append(y, math.log(distance)))
    latent = curve.problem(math.log(distance)).pair(jets[:-1], jets[-1:]).latent
    u = {name: getattr(latent, name).value for name in ("c", "sigma", "rho")}
    u |= {"tau_latent": latent.tau.value, "narrowing": math.exp(y[5])}
    u["v"] = spread * math.exp(y[3])
    u |= {
        "chi": spread - u["v"],
        "tau": spread * y[4],
        "t_hat": y[1],
        "q_hat": math.expm1(y[0]) + y[1] ** 2 / ref.q_hat,
    }
    u["S_hat"] = y[1] + y[2] + math.atanh(1 - 2 * distance)
    moments = curve.student.moments
    square, noise = moments.mu_1**2, moments.mu_star_squared
    fields = np.array([
        1 - 2 * distance, noise * u["chi"] + square * u["c"], noise * u["v"] + square * u["v"] * u["narrowing"],
        square * u["sigma"], noise * u["tau"] + square * u["tau_latent"], moments.mu_1 * u["rho"],
    ])  # fmt: skip
    return u, fields


def pair_term(energy, margin, fields):
    """The energetic term at s, X, V, Y, Z, R, as the reference gives it."""
    return energy.reference.pair_energy(margin, fields, energy.nodes)


def parameters(curve, distance) -> np.ndarray:
    """The paper's 15 parameters, in the order of NAMES: the conjugates of p, p_d, r, P_S, P_t by their equations."""
    u, fields = difference(curve, distance)
    S, ref, student = 1 - 2 * distance, typical_of(curve), curve.student
    P_S, P_t = u["sigma"] + S * ref.p_d, u["tau_latent"] + S * ref.p
    p = u["c"] + 2 * S * P_S - S * S * ref.p_d
    _, by_X, by_V, by_Y, by_T, by_R = pair_term(
        PairEnergy(curve.reference.covariances), student.margin, fields
    ).gradient
    square = student.alpha_T * student.moments.mu_1**2
    return np.array([
        S * S + u["chi"], p, p + u["v"] * u["narrowing"], u["rho"] + S * ref.r, P_S, u["tau"] + S * ref.q, P_t,
        u["q_hat"], -2 * square * (by_X - by_V), -2 * square * by_V, student.alpha_T * student.moments.mu_1 * by_R,
        u["S_hat"], square * (by_Y - 2 * S * by_X), u["t_hat"], -square * by_T,
    ])  # fmt: skip


def paper_fields(curve, S, x) -> np.ndarray:
    """s, X, V, Y, Z, R of the pair from the paper's covariances: u is the student less S times its reference."""
    q, p, p_d, r, P_S, t, P_t = x[:7]
    mu_1, noise = curve.student.moments.mu_1, curve.student.moments.mu_star_squared
    ref = typical_of(curve)
    Q, Q_d, R = noise * q + mu_1**2 * p, noise + mu_1**2 * p_d, mu_1 * r
    SS, T = noise * S + mu_1**2 * P_S, noise * t + mu_1**2 * P_t
    Q_r, Qd_r, R_r = noise * ref.q + mu_1**2 * ref.p, noise + mu_1**2 * ref.p_d, mu_1 * ref.r
    return np.array([S, Q - 2 * S * SS + S * S * Qd_r, Q_d - Q, SS - S * Qd_r, T - S * Q_r, R - S * R_r])


def paper_free_entropy(curve, distance, x, energy) -> float:
    """phi_FP as the paper writes it, in all 15 parameters (docs/overparam/theory.md eqs. 17-20)."""
    q, p, p_d, r, P_S, t, P_t, qh, ph, pdh, rh, Sh, PSh, th, Pth = x
    S, student, ref = 1 - 2 * distance, curve.student, typical_of(curve)
    z, w = np.polynomial.legendre.leggauss(400)
    z, w = 9 * z, 9 * w * norm.pdf(9 * z)
    odds = w / (1 + np.exp(-2 * np.sqrt(ref.q_hat) * z))
    h = np.sqrt(qh - th**2 / ref.q_hat) * z + (th / np.sqrt(ref.q_hat) * z)[:, None] + Sh - th
    weights = 2 * odds @ np.logaddexp(h, -h) @ w
    v_r, A_r = 1 - ref.q, ref.p_hat + ref.p_d_hat
    M_r = 1 + A_r * v_r
    X, Y = (ref.p_d - 2 * ref.q / M_r + ref.q) / v_r - 1, (ref.p_d - ref.q / M_r) / v_r
    v, A, c, e = 1 - q, ph + pdh, PSh - Pth, S - t
    M = 1 + A * v
    m_2 = q - 2 * t * e * A_r / M_r + e * e * X / v_r
    B_2 = rh**2 + ph + 2 * rh * c * ref.r + 2 * Pth * c * v_r / M_r + c * c * ref.p_d
    b = rh * ref.r * e / v_r + Pth * e / M_r + c * (t / M_r + e * Y)
    latent = -0.5 * np.log(M) + (v * B_2 + 2 * b - A * m_2) / (2 * M)
    bilinear = 0.5 * (ph * p + pdh * p_d) - rh * r - PSh * P_S + Pth * P_t
    patterns = pair_term(energy, student.margin, paper_fields(curve, S, x)).value
    alpha_D = student.alpha / student.alpha_T
    return -0.5 * qh * v - Sh * S + th * t + weights + alpha_D * (bilinear + latent) + student.alpha * patterns


@pytest.mark.parametrize("case", CURVES)
def test_stationary_by_finite_differences_of_the_papers_free_entropy(case):
    curve = curve_of(*case[:5])
    energy = PairEnergy(curve.reference.covariances, (72, 96, 44))
    for distance in case[5]:
        x, S = parameters(curve, distance), 1 - 2 * distance
        q, p, p_d, r, P_S, t, P_t, qh, ph, pdh, rh, _, PSh, th, Pth = x
        assert isinstance(curve.student, RandomFeatures)
        D = curve.student.alpha / curve.student.alpha_T
        assert paper_free_entropy(curve, distance, x, energy) == pytest.approx(curve.at(distance).entropy, abs=1e-9)
        # Of each equation, the term that is no derivative of an entropy: the violation is compared with it.
        terms = np.abs([
            qh / 2, D * ph / 2, D * pdh / 2, D * rh, D * PSh, th, D * Pth,
            (1 - q) / 2, D * p / 2, D * p_d / 2, D * r, S, D * P_S, t, D * P_t,
        ])  # fmt: skip
        _, X, V, Y, Z, _ = paper_fields(curve, S, x)
        assert isinstance(curve.reference.covariances, Reference)
        C, V_r, R_r, _ = curve.reference.covariances
        room = min(1 - q, V, X - Z**2 / (C + R_r**2) - (Y - Z) ** 2 / V_r, p_d - p)
        free = qh - th**2 / typical_of(curve).q_hat
        for index, name in enumerate(NAMES):
            length = 3e-3 * min({"q_hat": free, "t_hat": free}.get(name, 1.0), room if index < 7 else abs(x[index]))
            moved = five_points(x, length, index)
            change = five_point_slope([paper_free_entropy(curve, distance, place, energy) for place in moved], 1.0)
            assert abs(change) < 2e-6 * terms[index] * length + 3e-15, name


@pytest.mark.parametrize("case", CURVES)
def test_doubling_the_nodes_changes_nothing(case):
    curve = curve_of(*case[:5])
    for distance in case[5]:
        point = curve.point(math.log(distance))
        energy = PairEnergy(curve.reference.covariances, (2 * NODES[0], 2 * NODES[1], 2 * NODES[2]))
        fine = FranzParisi(curve.student, curve.reference, math.log(distance), energy)
        assert solve(fine, point.coordinates).value == pytest.approx(curve.at(distance).entropy, abs=1e-8)
        u, _ = difference(curve, distance)
        q_hat_ref = typical_of(curve).q_hat
        free, t_hat, field = variables([u["q_hat"] - u["t_hat"] ** 2 / q_hat_ref, u["t_hat"], u["S_hat"] - u["t_hat"]])
        one, two = (
            sites.binary_pair(free, t_hat, field, 0.0, q_hat_ref, spacing=sites.PAIR_SPACING / n) for n in (1, 2)
        )
        assert one.value == pytest.approx(two.value, abs=1e-9)
        np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-8, atol=1e-10)


def log_tail(h):
    return log_ndtr(-h)


def squared_pull(h):
    return np.exp(norm.logpdf(h) - log_ndtr(-h)) ** 2


def squared_bend(h):
    g = np.exp(norm.logpdf(h) - log_ndtr(-h))
    return (g * (g - h)) ** 2


def naive_pair_energy(energy, margin, fields, mean_of=log_tail):
    """Twin: the triple integral as it is written (docs/overparam/theory.md eq. 21), in its own coordinates z, y, x."""
    s, X, V, Y, Z, R_u = fields
    C_r, V_r, R_r, margin_ref = energy.reference
    Q_r = C_r + R_r**2
    Q, R, S, T = X + 2 * s * Y + s * s * (Q_r + V_r), R_u + s * R_r, Y + s * (Q_r + V_r), Z + s * Q_r
    rho = R_r / Q_r**0.5
    a, b = T / Q_r**0.5, (S - T) / V_r**0.5
    gamma = (Q - a * a - b * b) ** 0.5
    epsilon = (R - R_r * T / Q_r) / (gamma * (1 - rho**2) ** 0.5)
    t, weight = np.polynomial.legendre.leggauss(80)
    z, w = 9 * t, 9 * weight * norm.pdf(9 * t)
    bound = (margin_ref - Q_r**0.5 * z) / V_r**0.5
    start = np.maximum(bound, -9.0)
    length = np.sqrt(np.maximum(start, 0.0) ** 2 + 81.0) - start
    x = start[:, None] + length[:, None] * 0.5 * (t + 1)
    w_x = np.exp(norm.logpdf(x) - log_ndtr(-bound)[:, None]) * length[:, None] * 0.5 * weight
    slope = (1 - rho**2) ** 0.5
    U = (rho * z[:, None] + slope * epsilon * z) / (slope * (1 - epsilon**2) ** 0.5)
    h = (margin - a * z[:, None, None] - gamma * z[None, :, None] - b * x[:, None, :]) / V**0.5
    return 2 * np.einsum("zy,zyx,zx->", w[:, None] * w * ndtr(U), mean_of(h), w_x, optimize=True)


def committee_pair_energy(energy, margin, fields, mean_of=log_tail):
    """Twin without teacher: the double integral of `margins` eq. 27b."""
    s, X, V, Y, Z, _ = fields
    Q_r, V_r, _, margin_ref = energy.reference
    Q, S, T = X + 2 * s * Y + s * s * (Q_r + V_r), Y + s * (Q_r + V_r), Z + s * Q_r
    t, weight = np.polynomial.legendre.leggauss(500)
    z, w = 9 * t, 9 * weight * norm.pdf(9 * t)
    bound = (margin_ref - Q_r**0.5 * z) / V_r**0.5
    c_1, c = (S - T) / V_r**0.5, (Q - T * T / Q_r) ** 0.5
    c_2 = (c * c - c_1 * c_1) ** 0.5
    log_agree = log_ndtr(-(c * bound[:, None] - c_1 * z) / c_2) - log_ndtr(-bound)[:, None]
    return w @ (np.exp(log_agree) * mean_of((margin - T / Q_r**0.5 * z[:, None] - c * z) / V**0.5)) @ w


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("teacher", [0.0, 0.5])
def test_second_derivatives_of_the_energetic_term_are_differences_of_the_first(teacher, seed):
    rng = np.random.default_rng(seed)
    q, free, V = rng.uniform(0.1, 0.9), rng.uniform(0.05, 0.5), 10 ** rng.uniform(-2.0, -0.5)
    reference = Reference(q * (1 - teacher**2), free, teacher * math.sqrt(q), margin=rng.uniform(-1, 1))
    margin, units = rng.uniform(-1, 1), np.sqrt([V, V, V, V**2, V**2])
    at = np.array([rng.normal(0.8, 0.3), rng.normal(0.5, 0.3), rng.normal(0, 0.2) * (teacher > 0), 0, V])
    at[3] = V * rng.uniform(0.1, 2.0)  # a, b, e, r, V

    def term(place):
        a, b, e, r, V = place
        Z, R = a * math.sqrt(q), e * math.sqrt(1 - teacher**2) + a * teacher
        covariances = np.array([0, a * a + b * b + e * e + r, V, Z + b * math.sqrt(free), Z, R])
        return reference.pair_energy(margin, covariances, (80, 112, 56))

    def gradient(place):
        a, b, e, _, _ = place
        _, by_X, by_V, by_Y, by_Z, by_R = term(place).gradient
        by_a = 2 * a * by_X + math.sqrt(q) * (by_Y + by_Z) + teacher * by_R
        by_e = 2 * e * by_X + math.sqrt(1 - teacher**2) * by_R
        return np.array([by_a, 2 * b * by_X + math.sqrt(free) * by_Y, by_e, by_X, by_V])

    moved = [0, 1, 2, 3, 4] if teacher else [0, 1, 3, 4]
    expected = (differences(gradient, at, units, moved) * np.outer(units, units))[np.ix_(moved, moved)]
    found = (term(at).hessian * np.outer(units, units))[np.ix_(moved, moved)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def assert_energy_equals(energy, margin, fields, twin, moved):
    """Value, first derivatives, and the second ones that steer Newton's method."""
    value, gradient, *_ = pair_term(energy, margin, fields)
    assert value == pytest.approx(twin(energy, margin, fields), abs=1e-8)
    _, X, V, Y, Z, _ = fields
    pulls = twin(energy, margin, fields, squared_pull) / V, twin(energy, margin, fields, squared_bend) / V**2
    assert energy.pulls(margin, fields) == pytest.approx(pulls, rel=1e-6)
    ref = energy.reference
    gamma_squared = X - Z**2 / (ref.common + ref.teacher**2) - (Y - Z) ** 2 / ref.free
    length = 0.01 * min(V, gamma_squared)
    slopes = [slope_at(lambda at: twin(energy, margin, at), fields, length, index) for index in range(moved)]
    np.testing.assert_allclose(gradient[:moved], slopes, rtol=1e-6, atol=1e-7)
    jet = PairEnergy(energy.reference, energy.nodes)(margin, variables(fields))
    for signs in np.random.default_rng(15).choice([-1.0, 1.0], (3, moved)):
        step = length * np.append(signs, np.zeros(6 - moved))
        f = [twin(energy, margin, fields + n * step) for n in (-2, -1, 0, 1, 2)]
        second = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / 12
        assert step @ jet.hessian @ step == pytest.approx(second, rel=1e-3, abs=1e-3 * length**2)


@pytest.mark.parametrize("distance", [0.02, 0.15, 0.45])
def test_pair_energy_and_its_written_out_derivatives(distance):
    curve = curve_of(3.0, 1.2, 0.1, 0.0, "sign")
    assert_energy_equals(curve.energy, 0.0, difference(curve, distance)[1], naive_pair_energy, 6)


@pytest.mark.parametrize("model", ["perceptron", "sign", "relu"])
@pytest.mark.parametrize("distance", [0.1, 0.4])
def test_pair_energy_without_teacher(model, distance):
    student = Perceptron(0.5, 0.0) if model == "perceptron" else TreeCommittee(0.5, 0.0, model)
    curve = curve_around(student, 0.2)
    problem = curve.problem(math.log(distance))
    seen = []

    class Seen(PairEnergy):
        def __call__(self, margin, fields):
            seen.append(np.array([getattr(part, "value", part) for part in fields]))
            return super().__call__(margin, fields)

    point = curve.point(math.log(distance))
    looked = FranzParisi(student, curve.reference, math.log(distance), Seen(curve.reference.covariances))
    jets = variables(np.append(point.coordinates, math.log(distance)))
    assert looked.value(jets[:-1], jets[-1:]).value == pytest.approx(point.value, abs=1e-12)
    assert_energy_equals(problem.energy, 0.0, seen[0], committee_pair_energy, 5)


def fixed_point(curve, distance, sweeps=3000):
    """Twin: the explicit saddle-point equations of the Franz-Parisi entropy, damped; own quadrature, numpy.

    Returns its order parameters (q, p, p_d, r, P_S, t, P_t), conjugates and nothing of the solver's.
    """
    student, margin_ref = curve.student, curve.reference.covariances.margin
    alpha, alpha_T = student.alpha, student.alpha_T
    alpha_D, mu_1, noise = alpha / alpha_T, student.moments.mu_1, student.moments.mu_star_squared
    ref = typical_of(curve)
    q_r, p_r, pd_r, r_r, qh_r, ph_r, pdh_r = ref.q, ref.p, ref.p_d, ref.r, ref.q_hat, ref.p_hat, ref.p_d_hat
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
    q, p, p_d, r, P_S, t, P_t = parameters(curve, distance * 1.05)[:7]
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
    np.testing.assert_allclose(parameters(curve, distance), fixed_point(curve, distance), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("case", CURVES)
def test_slope_is_the_derivative_of_the_entropy(case):
    curve = curve_of(*case[:5])
    for distance in case[5]:
        slope = slope_at(lambda distance: curve.at(distance).entropy, distance, 1e-3 * distance)
        assert curve.at(distance).slope == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("margin_ref", "margin"), [(0.0, 0.0), (0.02, 0.0), (0.1, 0.0), ("max", 0.0), (0.1, 0.1)])
def test_at_the_typical_distance_it_is_the_total_entropy(margin_ref, margin):
    total = typical(RandomFeatures(margin=margin, **MODEL)).entropy
    distance = typical_distance(RandomFeatures(margin=margin, **MODEL), margin_ref=margin_ref)
    table = franz_parisi(
        RandomFeatures(margin=margin, **MODEL), distance * np.array([0.98, 1.0, 1.02]), margin_ref=margin_ref
    )
    assert table.attrs["typical_distance"] == distance
    assert table.entropy[1] == pytest.approx(total, abs=1e-9)
    assert table.slope[1] == pytest.approx(0, abs=1e-7)
    assert table.entropy[[0, 2]].max() < total
    assert table.entropy[[0, 2]].min() > total - 2e-4


@pytest.mark.parametrize("margin_ref", [0.0, 0.1])
def test_smooth_through_the_maximum(margin_ref):
    """At equal margins the free entropy is singular at the maximum, the curve is not."""
    distance = typical_distance(RandomFeatures(**MODEL), margin_ref=margin_ref)
    steps = np.array([-1e-3, -3e-4, -2e-5, -1e-8, 0.0, 1e-8, 2e-5, 3e-4, 1e-3])
    table = franz_parisi(RandomFeatures(**MODEL), distance * (1 + steps), margin_ref=margin_ref)
    curvature = (table.slope.iloc[-1] - table.slope.iloc[0]) / (2e-3 * distance)
    np.testing.assert_allclose(table.slope, curvature * distance * steps, rtol=1e-3, atol=1e-10)
    total = typical(RandomFeatures(**MODEL)).entropy
    np.testing.assert_allclose(table.entropy, total + 0.5 * curvature * (distance * steps) ** 2, atol=1e-9)
    # Of the points that the curve goes through, not the largest that a point may have.
    assert table.residual.max() < TOLERANCE


def test_vanishes_at_zero_distance():
    distances = np.array([1e-5, 1e-4, 1e-3])
    table = franz_parisi(RandomFeatures(**MODEL), distances, margin_ref="max")
    np.testing.assert_allclose(table.entropy[:2], binary_entropy(distances[:2]), rtol=1e-5)
    assert (table.entropy > 0).all()


@pytest.mark.parametrize("inv_alpha", [1.2, 20.0, 1000.0])
def test_bounded_by_the_number_of_configurations(inv_alpha):
    distances = np.geomspace(1e-3, 0.5, 8)
    gap = binary_entropy(distances) - franz_parisi(RandomFeatures(3.0, inv_alpha), distances, 0.1).entropy.to_numpy()
    assert (gap > 0).all()
    if inv_alpha == 1000.0:
        assert gap.max() < 2e-3


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_small_distance_law_for_equal_margins(margin):
    """phi = -d ln d + d - C sqrt(d): random flips add a noise of variance 4d to each stability."""
    solution = typical(RandomFeatures(margin=margin, **MODEL))
    mu_1, noise = np.sqrt(2 / np.pi), 1 - 2 / np.pi
    Q, Q_d, R = noise * solution.q + mu_1**2 * solution.p, noise + mu_1**2 * solution.p_d, mu_1 * solution.r
    V = Q_d - Q
    z, w = np.polynomial.legendre.leggauss(400)
    z, w = 9 * z, 9 * w * norm.pdf(9 * z)
    h = (margin - np.sqrt(Q) * z) / np.sqrt(V)
    density = 2 * w @ (ndtr(R * z / np.sqrt(Q - R * R)) * np.exp(norm.logpdf(h) - log_ndtr(-h))) / np.sqrt(V)
    distances = np.array([0.01, 0.02])
    entropy = franz_parisi(RandomFeatures(margin=margin, **MODEL), distances, margin_ref=margin).entropy.to_numpy()
    coefficient = (-distances * np.log(distances) + distances - entropy) / np.sqrt(distances)
    # The next orders, cubes of sqrt(d) and its logarithm, leave 1 %.
    np.testing.assert_allclose(coefficient, 0.955071 / 1.2 * density, rtol=0.015)


def test_quoted_numbers_of_figure_3():
    assert typical_distance(RandomFeatures(**MODEL), margin_ref=0.0) == pytest.approx(0.3021, abs=5e-5)
    assert typical_distance(RandomFeatures(**MODEL), margin_ref="max") == pytest.approx(0.2616, abs=5e-5)
    isolated = franz_parisi(RandomFeatures(**MODEL), [0.0193 * 0.99, 0.0193 * 1.01], margin_ref=0.0)
    assert isolated.entropy[0] < 0 < isolated.entropy[1]
    dip = franz_parisi(RandomFeatures(**MODEL), np.geomspace(0.0015, 0.02, 30), margin_ref=0.05)
    assert dip.entropy.min() == pytest.approx(0.000518, abs=2e-6)
    assert dip.distance[dip.entropy.idxmin()] == pytest.approx(0.003, rel=0.06)
    assert franz_parisi(RandomFeatures(**MODEL), [0.0035], margin_ref=0.05).entropy[0] == pytest.approx(
        0.00056, abs=5e-6
    )
    shell = franz_parisi(RandomFeatures(**MODEL), np.geomspace(1e-4, 0.02, 12), margin_ref=0.03)
    assert shell.entropy[0] > 0 > shell.entropy.min()
    monotonic = franz_parisi(RandomFeatures(**MODEL), np.geomspace(1e-4, 0.26, 25), margin_ref=0.1)
    assert (monotonic.slope > 0).all()


@pytest.mark.parametrize("gap", [1e-12, 1e-8, 2e-6])
def test_nearly_equal_margins(gap):
    """The entropy is smooth in the margin of the reference: it is linear at equal margins."""
    model = MODEL | {"margin": 0.1}
    table, equal, aside = (franz_parisi(RandomFeatures(**model), [0.35], margin_ref=0.1 + g) for g in (gap, 0.0, 1e-4))
    slope = (aside.entropy[0] - equal.entropy[0]) / 1e-4
    assert table.entropy[0] == pytest.approx(equal.entropy[0] + slope * gap, abs=1e-12 + 1e-2 * gap)
    moved = (aside.attrs["typical_distance"] - equal.attrs["typical_distance"]) / 1e-4 * gap
    assert table.attrs["typical_distance"] - equal.attrs["typical_distance"] == pytest.approx(
        moved, rel=1e-2, abs=1e-11
    )


def test_fields_beyond_the_domain_are_refused():
    energy = curve_of(3.0, 1.2, 0.1, 0.0, "sign").energy
    # The last one, what the student's rest shares with the teacher, exceeds what it shares with other students.
    refused, accepted = [0.6, 0.1, 0.5, 0.1, 0.1, 0.9], [0.6, 0.1, 0.5, 0.1, 0.1, 0.1]
    assert np.isfinite(energy.pulls(0.0, accepted)).all()
    with pytest.raises(ValueError, match="outside of the domain"):
        energy.pulls(0.0, refused)


def test_terms_are_continued_below_vanishing_variances():
    """A step may make a variance negative by a little: value and slope do not jump there."""
    energy = PairEnergy(curve_of(3.0, 1.2, 0.1, 0.0, "sign").reference.covariances)
    S, V = 0.8, 0.4
    at_zero, above, below = (pair_term(energy, 0.0, np.array([S, X, V, 0, 0, 0])) for X in (0.0, 1e-4, -1e-4))
    assert above[0] - at_zero[0] == pytest.approx(1e-4 * at_zero[1][1], rel=1e-3)
    assert below[0] - at_zero[0] == pytest.approx(-1e-4 * at_zero[1][1], rel=1e-6)
    np.testing.assert_allclose(above[1], below[1], rtol=1e-2, atol=1e-4)
    free, t_hat, field = variables([0.0, 0.3, 0.7])
    one, two = (sites.binary_pair(free + shift, t_hat, field, 0.0, 1.5) for shift in (1e-3, -1e-3))
    middle = sites.binary_pair(free, t_hat, field, 0.0, 1.5)
    assert one.value - 2 * middle.value + two.value == pytest.approx(1e-6 * middle.hessian[0, 0], rel=1e-2)
    np.testing.assert_allclose((one.gradient - two.gradient) / 2e-3, middle.hessian[0], rtol=1e-2)


def test_random_flips_join_the_branch():
    """Both descriptions hold where the patterns hardly pull; the curve goes from one to the other there."""
    curve = FranzParisiCurve(RandomFeatures(3.0, 1.2, 0.0, "sign"), RandomFeatures(3.0, 1.2, 0.2, "sign"))
    compared = 0
    for distance in np.geomspace(1e-3, 1e-4, 40).tolist():
        flips, _, size = from_random_flips(weak_problem(curve, distance))
        if 1e-8 < size < WEAK:
            followed = curve_point(curve.problem(math.log(distance)), curve.point(math.log(distance)))
            assert flips.entropy == pytest.approx(followed.entropy, rel=1e-9)
            assert flips.slope == pytest.approx(followed.slope, rel=1e-9)
            assert curve.at(distance) == flips
            compared += 1
    assert compared >= 2


def test_order_of_distances_does_not_matter():
    distances = [0.4, 0.01, 0.2, 0.4, 0.05]
    table = franz_parisi(RandomFeatures(**MODEL), distances, margin_ref=0.1)
    assert table.distance.tolist() == distances
    alone = franz_parisi(RandomFeatures(**MODEL), [0.01], margin_ref=0.1)
    assert alone.entropy[0] == pytest.approx(table.entropy[1], abs=1e-9)
    assert list(table.columns) == ["distance", "entropy", "slope", "replicon", "residual"]
    assert (table.residual < 1e-6).all()


def test_frozen_region_raises_or_is_marked():
    """Next to a reference of equal margin the replica-symmetric solution ends where q reaches 1."""
    with pytest.raises(ConvergenceError) as failure:
        franz_parisi(RandomFeatures(**MODEL), [1e-4], margin_ref=0.0)
    assert failure.value.point["distance"] == pytest.approx(0.00118, rel=0.03)
    assert failure.value.point["q"] > 0.999
    marked = franz_parisi(RandomFeatures(**MODEL), [1e-4, 0.01], margin_ref=0.0, unsolved="nan")
    assert np.isnan(marked.entropy[0])
    assert marked.entropy[1] == pytest.approx(-0.0132442, abs=1e-6)
