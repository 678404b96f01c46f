"""The statistics that claims share, against SciPy and against many draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from localentropy.claims.conditions import Mean, agree, largest_of, mean_of, trend, welch
from localentropy.claims.glm.linear_students import _logistic_losses


@pytest.mark.parametrize("sizes", [(5, 9), (12, 3)])
def test_welch_has_the_probability_of_scipys_test(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    high, low = rng.normal(1.0, 2.0, sizes[0]), rng.normal(0.5, 0.3, sizes[1])
    expected = stats.ttest_ind(high, low, equal_var=False, alternative="greater").pvalue
    assert stats.norm.sf(welch(mean_of(high), mean_of(low))) == pytest.approx(expected, rel=1e-10)
    one = stats.ttest_1samp(high, 0.2, alternative="greater").pvalue
    assert stats.norm.sf(welch(mean_of(high), Mean(0.2))) == pytest.approx(one, rel=1e-10)


def test_without_an_error_there_is_no_score() -> None:
    assert np.isnan(welch(Mean(1.0), Mean(0.0))) and np.isnan(welch(mean_of([1.0]), mean_of([0.0, 1.0])))
    assert np.isnan(welch(mean_of([1.0, np.nan, 2.0])))


def test_the_largest_of_several_is_as_rare_as_in_draws() -> None:
    draws = np.abs(np.random.default_rng(2).normal(size=(100_000, 5))).max(axis=1)
    assert largest_of("draw", [0.3, -2.5, 1.0, 0.0, 2.0]).value == pytest.approx((draws > 2.5).mean(), abs=1e-3)


def test_a_trend_breaks_at_one_rise_and_at_no_fall() -> None:
    errors = [0.01, 0.01, 0.01, 0.01]
    found = {
        name: [condition.holds for condition in trend("error", means, errors, along="α")]
        for name, means in (
            ("falls", [0.4, 0.3, 0.305, 0.2]),
            ("rises between", [0.4, 0.3, 0.35, 0.2]),
            ("rises slowly", [0.4, 0.3, 0.32, 0.34]),
            ("stays", [0.4, 0.4, 0.4, 0.39]),
        )
    }
    assert found == {
        "falls": [True, True],
        "rises between": [False, True],
        "rises slowly": [False, True],
        "stays": [True, False],
    }


def test_few_or_scattered_data_do_not_show_agreement() -> None:
    found = {error: agree("x", [Mean(0.001, error, 10), Mean(-0.001, error, 10)], 0.01) for error in (1e-3, 1e-2)}
    assert [[each.holds for each in conditions] for conditions in found.values()] == [[True, True], [True, None]]
    assert [each.holds for each in agree("x", [Mean(0.1, 0.005, 10), Mean(-0.1, 0.005, 10)], 0.01)] == [False, True]
    assert [each.holds for each in agree("x", [Mean(0.02, 0.002, 10)] * 9, 0.01)][1] is False


@pytest.mark.parametrize(("overlap", "norm"), [(176.7, 31233.4), (0.5, 1.0), (0.0, 4.0)])
def test_logistic_loss_on_new_inputs_is_that_of_draws(overlap: float, norm: float) -> None:
    rng = np.random.default_rng(0)
    teacher, own = rng.standard_normal((2, 2_000_000))
    outputs = overlap * teacher + np.sqrt(norm - overlap**2) * own
    losses = np.logaddexp(0.0, -np.sign(teacher) * outputs)
    found = _logistic_losses(pd.Series([overlap]), pd.Series([norm]))[0]
    assert abs(found - losses.mean()) < 4.0 * losses.std() / np.sqrt(losses.size)
