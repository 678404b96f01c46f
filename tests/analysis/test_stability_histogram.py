"""The histogram of stabilities: bins on the lattice, theory counted once, deviations of every run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.stability_histogram import histogram_deviations, stability_histogram, steps_of
from localentropy.errors import DomainError

D, N, PATTERNS = 67, 1005, 201
SUMS = np.arange(1, 401, 2)
PROBABILITIES = np.exp(-0.5 * (SUMS / np.sqrt(N)) ** 2)
PROBABILITIES /= PROBABILITIES.sum()


def rows(quantity: str, x, values, **more) -> pd.DataFrame:
    size = {"D": D, "N": N, "inv_alpha": N / PATTERNS, "margin": 0.0, "margin_effective": 0.0}
    return pd.DataFrame({"quantity": quantity, "x": x, "value": values}).assign(**size, **more)


def solved_runs(samples: int = 20) -> pd.DataFrame:
    stream, frames = np.random.default_rng(0), []
    for sample in range(samples):
        counts = stream.multinomial(PATTERNS, PROBABILITIES).astype(float)
        kept = counts > 0
        frames.append(rows("stability_count", SUMS[kept] / np.sqrt(N), counts[kept], sample=sample))
        for quantity, value in (("solved", 1.0), ("mean_stability", 0.8)):
            frames.append(rows(quantity, [np.nan], [value], sample=sample))
    return pd.concat(frames, ignore_index=True)


def typical() -> pd.DataFrame:
    return rows("stability_probability", SUMS / np.sqrt(N), PROBABILITIES)


def test_each_value_of_the_lattice_has_its_bin():
    runs = solved_runs(3)
    histogram = stability_histogram(runs, typical(), D, N)
    assert histogram.width == pytest.approx(2 / np.sqrt(N))
    np.testing.assert_allclose(histogram.centres[:200], SUMS[: len(histogram.centres)] / np.sqrt(N))
    counts = runs[runs["quantity"] == "stability_count"]
    for sample, fractions in histogram.fractions.iterrows():
        here = counts[counts["sample"] == sample]
        places = np.searchsorted(histogram.centres, here["x"] - 1e-9)
        np.testing.assert_allclose(fractions.iloc[places] * PATTERNS, here["value"])
        assert fractions.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(histogram.theory, PROBABILITIES[: len(histogram.theory)])


def test_wide_bins_are_sums_of_narrow_ones():
    runs = solved_runs(2)
    narrow, wide = (stability_histogram(runs, typical(), D, N, steps=steps, least_bins=40) for steps in (1, 4))
    bins = narrow.fractions.shape[1] // 4
    for one, other in ((narrow.fractions.mean(), wide.fractions.mean()), (narrow.theory, wide.theory)):
        np.testing.assert_allclose(one.to_numpy()[: 4 * bins].reshape(-1, 4).sum(1), other.to_numpy()[:bins])


def test_the_theory_of_a_size_in_two_grids_counts_once():
    runs, once = solved_runs(), typical()
    twice = pd.concat([once, once])
    for steps in (1, 4):
        assert stability_histogram(runs, twice, D, N, steps=steps).theory.sum() == pytest.approx(1.0, abs=2e-3)
    pd.testing.assert_frame_equal(histogram_deviations(runs, once), histogram_deviations(runs, twice))
    assert histogram_deviations(runs, twice).groupby("x")["deviation"].mean().abs().max() < 0.02


def test_another_margin_or_size_is_left_out():
    runs = pd.concat([solved_runs(), solved_runs().assign(margin=0.5), solved_runs().assign(N=1007)])
    theory = pd.concat([typical(), typical().assign(margin=0.5), typical().assign(D=33)])
    histogram = stability_histogram(runs, theory, D, N)
    pd.testing.assert_frame_equal(histogram.fractions, stability_histogram(solved_runs(), typical(), D, N).fractions)
    assert histogram.theory.sum() == pytest.approx(1.0, abs=2e-3)


def test_what_the_theory_lacks_is_missing():
    runs, theory = solved_runs(), typical()
    assert stability_histogram(runs, theory[:0], D, N).theory.isna().all()
    theory.loc[5, "value"] = np.nan
    assert np.flatnonzero(stability_histogram(runs, theory, D, N, steps=4).theory.isna()).tolist() == [1]


def test_bins_have_whole_steps_about_the_width_asked_for():
    assert [steps_of(width, N) for width in (0.01, 0.12, 0.5)] == [1, 2, 8]
    for width, size, message in ((0.5, -3, "N = -3 is out of range"), (0.0, 9, "width = 0 is out of range")):
        with pytest.raises(DomainError, match=message):
            steps_of(width, size)
