from __future__ import annotations

import hashlib

import numpy as np
import pytest

from localentropy.data import dress_coat, mnist_parity
from localentropy.data.selection import class_balanced, permutation, stable_keys


def blobs(count: int, seed: int) -> np.ndarray:
    """Correlated images with a decaying spectrum, uint8."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(count, 12)) * np.linspace(3, 0.5, 12)
    directions = np.random.default_rng(0).normal(size=(12, 64))
    noisy = 128 + 8 * factors @ directions + rng.normal(size=(count, 64))
    return np.clip(noisy, 0, 255).astype(np.uint8).reshape(count, 8, 8)


def test_components_agree_with_a_singular_value_decomposition():
    images, others = blobs(300, 1), blobs(50, 2)
    axes = mnist_parity.principal_components(images, 10)
    mean = images.reshape(300, -1).mean(axis=0) / 255
    left, singular, right = np.linalg.svd(images.reshape(300, -1) / 255 - mean, full_matrices=False)
    right = right[:10]
    signs = np.sign(right[np.arange(10), np.abs(right).argmax(axis=1)])
    scale = np.sqrt((singular[:10] ** 2).sum() / (300 * 10))
    np.testing.assert_allclose(axes.loadings, (right * signs[:, None]).T, atol=1e-10)
    np.testing.assert_allclose(axes.mean, mean, atol=1e-15)
    assert axes.scale == pytest.approx(scale, rel=1e-12)
    expected = left[:, :10] * singular[:10] * signs / scale
    projected = axes.project(images)
    assert projected.dtype == np.float32
    np.testing.assert_array_equal(projected, np.rint(expected * 4096) / 4096)  # the grid hides the library
    others_expected = (others.reshape(50, -1) / 255 - mean) @ (right * signs[:, None]).T / scale
    np.testing.assert_array_equal(axes.project(others), np.rint(others_expected * 4096) / 4096)


def test_whitened_components_have_equal_variance_and_patterns_equal_norm():
    training = np.random.default_rng(3).normal([1.0, -2.0, 0.0], [3.0, 0.2, 1.0], (500, 3)).astype(np.float32)
    others = training[:40] + np.float32(0.1)
    found = mnist_parity.whitened(others, training)
    assert found.dtype == np.float32
    np.testing.assert_allclose((found**2).mean(1), 1.0, rtol=1e-6)
    # Neither the place nor the scale of a component is left.
    moved = [(part * np.array([2.0, 50.0, 0.1]) + 4.0).astype(np.float32) for part in (others, training)]
    np.testing.assert_allclose(mnist_parity.whitened(*moved), found, atol=1e-4)
    scores = (others - training.mean(0)) / training.std(0)
    np.testing.assert_allclose(found, scores / np.sqrt((scores**2).mean(1))[:, None], rtol=1e-4)


def test_joint_scaling_and_fixed_signs():
    axes = mnist_parity.principal_components(blobs(300, 1), 10)
    projected = axes.project(blobs(300, 1)).astype(float)
    assert (projected**2).mean() == pytest.approx(1, abs=1e-3)
    variances = projected.var(axis=0)
    assert (np.diff(variances) < 0).all()
    assert variances[0] > 1.5
    assert variances[-1] < 0.8
    assert (axes.loadings.max(axis=0) == np.abs(axes.loadings).max(axis=0)).all()
    np.testing.assert_array_equal(projected * 4096, np.rint(projected * 4096))


def test_blocks_do_not_matter(monkeypatch):
    whole = mnist_parity.principal_components(blobs(300, 1)).project(blobs(300, 1))
    monkeypatch.setattr(mnist_parity, "CHUNK", 37)
    parts = mnist_parity.principal_components(blobs(300, 1)).project(blobs(300, 1))
    assert whole.tobytes() == parts.tobytes()


def test_parity_labels():
    labels = mnist_parity.parity_labels(np.arange(10, dtype=np.uint8))
    assert labels.dtype == np.int8
    assert labels.tolist() == [1, -1] * 5


def test_binarization_against_floating_point():
    rng = np.random.default_rng(3)
    bright = rng.integers(0, 256, (400, 28, 28)) * rng.random((400, 1, 1)) * 1.9
    images = np.clip(bright, 0, 255).astype(np.uint8)
    classes = rng.integers(0, 10, 400).astype(np.uint8)
    pixels, labels, indices = dress_coat.binarize(images, classes)
    medians = np.median(images.reshape(400, -1) / 255, axis=1)
    kept = np.flatnonzero(np.isin(classes, (3, 4)) & (medians >= 0.25) & (medians <= 0.75))
    assert 0 < len(kept) < np.isin(classes, (3, 4)).sum()
    np.testing.assert_array_equal(indices, kept)
    np.testing.assert_array_equal(labels, np.where(classes[kept] == 3, 1, -1))
    above = images[kept].reshape(len(kept), -1) / 255 > medians[kept, None]
    np.testing.assert_array_equal(pixels, np.where(above, 1, -1))


@pytest.mark.parametrize(
    ("low", "high", "kept"), [(63, 64, False), (64, 64, True), (191, 191, True), (191, 192, False)]
)
def test_brightness_limits(low, high, kept):
    """0.25 · 255 = 63.75 and 0.75 · 255 = 191.25: the medians 63.5 and 191.5 are out."""
    image = np.array([low] * 392 + [high] * 392, np.uint8).reshape(1, 28, 28)
    assert len(dress_coat.binarize(image, np.array([3], np.uint8))[1]) == kept


def test_training_subset_is_balanced_and_depends_on_official_positions_only():
    rng = np.random.default_rng(5)
    labels = np.where(rng.random(900) < 0.4, 1, -1).astype(np.int8)
    indices = np.sort(rng.choice(60_000, 900, replace=False))
    chosen = dress_coat.training_subset(labels, indices)
    assert (np.diff(chosen) > 0).all()
    assert sorted(labels[chosen].tolist()) == [-1] * 250 + [1] * 250
    np.testing.assert_array_equal(chosen, dress_coat.training_subset(labels, indices))
    assert set(chosen) != set(dress_coat.training_subset(labels, indices, number=1))
    fewer = np.sort(np.concatenate([chosen, np.setdiff1d(np.arange(900), chosen)[::2]]))
    np.testing.assert_array_equal(
        indices[fewer][dress_coat.training_subset(labels[fewer], indices[fewer])], indices[chosen]
    )


def test_too_few_images(refused):
    with refused("class 1", "found 3 images", "at least 250"):
        dress_coat.training_subset(np.ones(3, np.int8), np.arange(3))


def mean_correlation(pixels: np.ndarray) -> float:
    correlations = np.asarray(np.corrcoef(pixels.T))
    return float(np.abs(correlations[~np.eye(len(correlations), dtype=bool)]).mean())


def test_shuffle_keeps_every_marginal_and_loses_correlations():
    rng = np.random.default_rng(7)
    common = rng.choice([-1, 1], (500, 1))
    pixels = (common * np.where(rng.random((500, 40)) < 0.9, 1, -1)).astype(np.int8)
    shuffled = dress_coat.shuffle_pixels(pixels)
    np.testing.assert_array_equal(shuffled.sum(axis=0), pixels.sum(axis=0))
    assert mean_correlation(pixels) > 0.5
    assert mean_correlation(shuffled) < 0.06  # 0.036 for independent pixels
    assert shuffled.tobytes() == dress_coat.shuffle_pixels(pixels).tobytes()
    assert shuffled.tobytes() != dress_coat.shuffle_pixels(pixels, number=1).tobytes()


def test_keys_are_fixed_for_ever():
    """Golden values: a change would silently move every subset."""
    assert stable_keys("dress_coat/train/0", 2).tolist() == [5341877611324057274, 17152362481407095381]
    digest = hashlib.shake_256(b"dress_coat/train/0").digest(16)
    assert int.from_bytes(digest[8:], "little") == 17152362481407095381
    assert permutation("x", 6).tolist() == [2, 4, 3, 0, 5, 1]
    np.testing.assert_array_equal(stable_keys("x", 9)[:4], stable_keys("x", 4))


def test_class_balanced_choices_are_nested():
    labels = np.arange(100) % 4
    small, large = class_balanced(labels, 3, "s"), class_balanced(labels, 8, "s")
    assert set(small) <= set(large)
    assert np.bincount(labels[large]).tolist() == [8] * 4
    assert len(class_balanced(labels[:0], 3, "s")) == 0
