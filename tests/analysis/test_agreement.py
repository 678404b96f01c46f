"""The agreement of simulation points with a theory: right where the theory is, and small where it is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from localentropy.analysis.agreement import agreement, agreement_at_infinite_size, agreement_by_size
from localentropy.analysis.runs import (
    annealed_averages,
    averages,
    deviations,
    largest_solved,
    shared_size,
    solved_by_all,
    solved_fractions,
    with_theory,
)
from localentropy.analysis.statistics import normal_score
from localentropy.errors import DomainError
from localentropy.figures.agreement import csv_rows, in_words


def figure(stream, samples, points, shift=0.0, correlation=0.0, groups=1):
    """Deviations in units of their standard error over samples, of a theory that is off by `shift` such errors."""
    found = []
    for _ in range(groups):
        common = stream.standard_normal((samples, 1))
        own = stream.standard_normal((samples, points))
        values = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        found.append(values + shift / np.sqrt(samples))
    return found


def test_one_point_is_the_t_test():
    values = np.random.default_rng(0).standard_normal(8) + 0.4
    found = agreement([values[:, None]])
    assert found.points == 1
    assert found.p_value == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue)
    z = values.mean() / stats.sem(values)
    assert found.chi_squared == pytest.approx(normal_score(np.array([z]), np.array([8]))[0] ** 2)
    assert found.drift == pytest.approx(values.mean()) and found.drift_error == pytest.approx(stats.sem(values))


def test_the_error_of_the_drift_is_that_of_a_mean_over_groups():
    found = agreement([np.array([[1.0], [2.0], [3.0]]), np.array([[0.0], [2.0], [4.0]])])
    assert found.points == 2 and found.drift == 2.0
    assert found.drift_error == pytest.approx(np.sqrt(1 / 3 + 4 / 3) / 2)


def test_at_most_half_as_many_points_as_samples_are_used():
    (group,) = figure(np.random.default_rng(8), 6, 5)
    found = agreement([group])
    assert found.points == 3 and found.chi_squared == agreement([group[:, [0, 2, 4]]]).chi_squared


def test_scores_are_normal_and_keep_their_sign():
    stream = np.random.default_rng(1)
    values = stream.standard_normal((20_000, 4))
    z = values.mean(1) / stats.sem(values, axis=1)
    scores = normal_score(z, np.full(len(z), 4))
    assert stats.kstest(scores, "norm").pvalue > 0.01
    assert stats.kstest(z, "norm").pvalue < 1e-6  # which the z-scores themselves are not
    assert (np.sign(scores) == np.sign(z)).all()
    far = np.array([-9.0, 0.0, 9.0])
    np.testing.assert_allclose(stats.norm.cdf(normal_score(far, np.full(3, 30))), stats.t.cdf(far, 29), rtol=1e-6)
    assert np.isnan(normal_score(np.array([np.nan, 1.0]), np.array([5, 1]))).all()


@pytest.mark.parametrize("samples, points, groups", [(5, 1, 6), (10, 3, 2), (20, 7, 4), (6, 7, 3)])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_p_values_of_the_right_theory_are_uniform(samples, points, groups, correlation):
    stream = np.random.default_rng(2)
    p = [agreement(figure(stream, samples, points, 0.0, correlation, groups)).p_value for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_p_values_of_a_wrong_theory_are_small():
    stream = np.random.default_rng(3)
    right, wrong = (agreement(figure(stream, 20, 1, shift, 0.0, 6)).p_value for shift in (0.0, 4.0))
    assert right > 1e-3 > wrong
    # Points that all move together are one deviation, not seven …
    together = np.repeat(stream.standard_normal((20, 1)), 7, axis=1) + 1e-9 * stream.standard_normal((20, 7))
    assert agreement([together]).p_value > 1e-3
    # … and a deviation against their correlation is seen though each point alone looks right.
    bent = figure(stream, 20, 2, 0.0, 0.99)[0] + np.array([0.1, -0.1])
    assert all(abs(column.mean() / stats.sem(column)) < 3 for column in bent.T)
    assert agreement([bent]).p_value < 1e-3


def test_what_says_nothing_is_left_out():
    stream = np.random.default_rng(4)
    group = figure(stream, 10, 2)[0]
    found = agreement([group])
    # A point without scatter is left out, far from the theory too.
    for value in (0.0, 5.0):
        padded = np.column_stack([np.full(10, value), group])
        assert agreement([padded, group[:2], np.empty((0, 2))]) == found
    assert agreement([np.full((10, 3), 5.0)]).points == 0
    # A point twice, or the sum of two others, is none of its own.
    for more in (group[:, [0]], group.sum(1, keepdims=True)):
        wider = agreement([np.column_stack([group, more])])
        assert (wider.points, wider.chi_squared) == (2, pytest.approx(found.chi_squared))
    assert agreement([]).points == 0 and np.isnan(agreement([]).p_value)


def runs(errors, D=67, N=201, margin=0.0, unsolved=0):
    """Rows of a solver's table: test errors of the solved runs, and some unsolved ones with absurd errors."""
    rows = []
    for sample, error in enumerate([*errors, *[9.0] * unsolved]):
        base = {"D": D, "N": N, "inv_alpha": 1.0, "margin": margin, "margin_effective": margin, "sample": sample}
        rows += [
            base | {"quantity": "solved", "value": float(sample < len(errors))},
            base | {"quantity": "test_error", "value": error},
        ]
    return pd.DataFrame(rows)


def theory(value, **changes):
    return pd.DataFrame([{"D": 67, "N": 201, "margin": 0.0, "error_typical": value} | changes])


def test_a_table_of_runs_is_compared_with_its_theory():
    errors = 0.3 + 0.01 * np.random.default_rng(5).standard_normal(20)
    table = runs(errors, unsolved=1)
    point = with_theory(averages(table, "test_error"), theory(0.3), "error_typical").iloc[0]
    assert (point["n"], point["solved"]) == (20, 20 / 21)
    assert point["z"] == pytest.approx((errors.mean() - 0.3) / stats.sem(errors))
    assert point["score"] == pytest.approx(normal_score(point["z"], 20))
    right, wrong = (
        agreement_by_size(deviations(table, "test_error", theory(value), "error_typical"), ["margin"]).iloc[0]
        for value in (0.3, 0.31)
    )
    assert (
        right["p_value"] == pytest.approx(stats.ttest_1samp(errors, 0.3).pvalue)
        and right["p_value"] > 1e-3 > wrong["p_value"]
    )
    assert wrong["drift"] == pytest.approx(errors.mean() - 0.31)
    assert (right["D"], right["points"]) == (67, 1)
    row = csv_rows(right.to_frame().T).iloc[0]
    assert (row["panel"], row["series"], row["x"], row["y"]) == ("agreement", "D = 67.0", 67, right["p_value"])


def test_a_point_with_few_solved_runs_is_not_compared():
    table = runs(0.3 + 0.01 * np.arange(8), unsolved=2)
    assert np.isnan(with_theory(averages(table, "test_error"), theory(0.3), "error_typical")["z"].iloc[0])
    found = agreement_by_size(deviations(table, "test_error", theory(0.3), "error_typical"), ["margin"])
    assert found.empty and "no size" in in_words(found, "test error")


def test_margins_of_one_instance_are_one_group_and_sizes_are_apart():
    stream = np.random.default_rng(6)
    first = 0.3 + 0.01 * stream.standard_normal(20)
    both = pd.concat([runs(first), runs(first + 1e-5 * stream.standard_normal(20), margin=0.5)])
    known = pd.concat([theory(0.3), theory(0.3, margin=0.5)])
    found = agreement_by_size(deviations(both, "test_error", known, "error_typical"), ["margin"]).iloc[0]
    alone = agreement_by_size(deviations(runs(first), "test_error", known, "error_typical"), ["margin"]).iloc[0]
    assert found["points"] == 2 and found["drift_err"] == pytest.approx(alone["drift_err"], rel=0.01)
    sizes = pd.concat([runs(first), runs(first, D=201, N=603)])
    known = pd.concat([theory(0.32), theory(0.3, D=201, N=603)])
    found = agreement_by_size(deviations(sizes, "test_error", known, "error_typical"), ["margin"])
    assert found["D"].tolist() == [67, 201] and found["p_value"].iloc[0] < 1e-3 < found["p_value"].iloc[1]
    words = in_words(found, "test error")
    assert "D = 201" in words and f"p = {found['p_value'].iloc[1]:.2g}" in words and "at D = 67" in words


def test_sizes_near_the_same_overparameterization_are_one_point():
    points = pd.DataFrame(
        {"D": [33, 67, 201], "inv_alpha": [9.99, 9.995, 10.002], "solved": [1.0, 0.9, 0.5], "y": [1.0, 2.0, 3.0]}
    )
    assert largest_solved(points)["y"].tolist() == [2.0]
    assert largest_solved(points.assign(solved=0.0))["y"].tolist() == [3.0]
    # Two values of one size are two points.
    close = pd.DataFrame({"D": [67, 201, 201], "inv_alpha": [1.0, 1.02, 1.04], "solved": 1.0, "y": [1.0, 2.0, 3.0]})
    assert largest_solved(close)["y"].tolist() == [2.0, 3.0]


def test_solvers_without_a_common_size_are_refused_by_name():
    grids = {
        "overparam/solve_sbpi": pd.DataFrame({"D": [67, 201]}),
        "overparam/solve_anneal": pd.DataFrame({"D": [33, 67]}),
    }
    assert shared_size(grids) == 67
    with pytest.raises(DomainError, match="overparam/solve_sbpi: 201; overparam/solve_anneal: 33, 67"):
        shared_size(grids | {"overparam/solve_sbpi": pd.DataFrame({"D": [201]})})


def test_only_the_outcomes_of_runs_count_as_solved_and_only_common_sizes_are_compared():
    table = pd.concat([runs([0.1, 0.2, 0.3], unsolved=1), runs([0.1], unsolved=1).assign(inv_alpha=0.5)])
    fractions = solved_fractions(table)
    assert fractions.index.tolist() == [0.5, 1.0] and fractions.tolist() == [0.5, 0.75]
    other = pd.Series({1.0: 0.9, 0.5: 0.2, 2.0: 0.0})
    assert solved_by_all([fractions, other]).to_dict() == {0.5: 0.2, 1.0: 0.75}


def test_annealed_runs_without_a_number_count_among_the_runs_only():
    rows = [
        ("errors", np.nan, "overlap", [0.2, 0.4, np.nan], [1.0, 1.0, 0.0]),
        ("cross_entropy", 2.0, "overlap", [0.5, 0.9], [0.0, 1.0]),
    ]
    table = pd.concat(
        pd.DataFrame({"energy": energy, "gamma": gamma, "quantity": name, "value": values})
        for energy, gamma, quantity, measured, outcomes in rows
        for name, values in ((quantity, measured), ("solved", outcomes))
    ).assign(alpha=0.3, N=201, x=0.0)
    found = annealed_averages(table, "overlap").set_index("energy")
    columns = ["y", "y_err", "n", "runs", "solved"]
    np.testing.assert_allclose(found.loc["errors", columns].astype(float), [0.3, 0.1, 2, 3, 2 / 3])
    np.testing.assert_allclose(found.loc["cross_entropy", columns].astype(float), [0.7, 0.2, 2, 2, 0.5])


def of_sizes(stream, drift, slope, samples=20):
    """Deviations drift + slope/D of two points of unequal scatter, at two sizes N of each of three D."""
    rows = [
        {"D": D, "N": N, "sample": sample, "x": x, "deviation": drift + slope / D + scatter * stream.standard_normal()}
        for D in (67, 134, 201)
        for N in (5 * D, 7 * D)
        for sample in range(samples)
        for x, scatter in ((0.1, 0.01), (0.2, 0.02))
    ]
    return pd.DataFrame(rows)


def test_a_drift_in_the_inverse_size_is_no_disagreement_and_a_constant_one_is():
    stream = np.random.default_rng(5)
    found = [agreement_at_infinite_size(of_sizes(stream, drift=0.0, slope=-0.7), ["x"]) for _ in range(400)]
    assert stats.kstest([each.p_value for each in found], "uniform").pvalue > 0.01
    scores = np.array([each.drift / each.drift_error for each in found])
    assert stats.kstest(scores, stats.t(19).cdf).pvalue > 0.01
    off = agreement_at_infinite_size(of_sizes(stream, drift=0.03, slope=-0.7), ["x"])
    assert off.p_value < 1e-4 and off.drift == pytest.approx(0.03, abs=4 * off.drift_error)


def test_the_extrapolated_drift_is_that_of_a_straight_line_through_the_means():
    table = of_sizes(np.random.default_rng(6), drift=0.01, slope=1.0)
    means = table.groupby("D")["deviation"].mean()
    found = agreement_at_infinite_size(table, ["x"])
    assert found.points == 2
    assert found.drift == pytest.approx(np.polyfit(1.0 / means.index, means, 1)[1], rel=1e-9)


def test_points_of_one_size_are_not_extrapolated_and_incomplete_samples_are_left_out():
    table = of_sizes(np.random.default_rng(7), drift=0.0, slope=1.0)
    assert agreement_at_infinite_size(table[table["D"] == 67], ["x"]).points == 0
    assert agreement_at_infinite_size(table[(table["D"] == 67) | (table["x"] == 0.1)], ["x"]).points == 1
    without = table[(table["D"] != 201) | (table["sample"] > 0)]
    assert agreement_at_infinite_size(without, ["x"]) == agreement_at_infinite_size(table[table["sample"] > 0], ["x"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: normal_score([1.0, 2.0], [3, 4, 5]), r"samples of shape \(3,\): allowed is one that fits z, \(2,\)"),
        (lambda: normal_score(1.0, -2), "samples: -2 is among them"),
        (lambda: normal_score("one", 3), "z: array of type"),
        (lambda: normal_score([np.inf], 3), "z: inf is among them"),
        (lambda: agreement([np.ones(5)]), r"groups\[0\] of shape \(5,\): allowed is \(samples, points\)"),
        (lambda: agreement([np.full((5, 2), np.nan)]), r"groups\[0\]: nan is among them"),
        (lambda: agreement([*np.ones((5, 2))]), r"groups\[0\] of shape \(2,\)"),
    ],
)
def test_what_are_no_deviations_is_refused_in_one_line(call, message):
    with pytest.raises(DomainError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)
    assert np.isnan(normal_score([np.nan, 1.0], 1)).all() and normal_score([], 3).shape == (0,)
