"""The experiment behind figure 8 of margins on few images: what its table holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy.data import prepared
from localentropy.errors import DataError
from localentropy.programs.margins import binary_mlp
from localentropy.programs.parts.parameters import Context

EMBEDDED = Path(__file__).parents[2] / "data/embedded"
TINY: dict[str, Any] = {
    "dataset": "fashion_mnist",
    "labels": "classes",
    "hidden_layers": 2,
    "width": 15,
    "patterns": (20, 60),
    "samples": 3,
    "logit_scale": 4.0,
    "learning_rate": 1.0,
    "spread": 0.3,
    "batch": 20,
    "epochs": 60,
    "distances": (0.01, 0.1),
    "flip_draws": 2,
    "device": "cpu",
}


def parameters(**changes):
    values = TINY | changes
    return binary_mlp.Parameters.of(values).model_validate(values)


def table(task=0, checkpoint=None, **changes):
    made = parameters(**changes)
    data = {name: EMBEDDED / f"{name}.npz" for name in made.datasets()}
    context = Context(seed=1, data=data, report=lambda line: None, checkpoint=checkpoint)
    return binary_mlp.compute(made, binary_mlp.tasks(made)[task], context)


@pytest.fixture(scope="module")
def solved():
    return table()


def test_tasks():
    assert binary_mlp.tasks(parameters()) == [{"patterns": 20}, {"patterns": 60}]


def test_rows(solved):
    assert dict(solved.dtypes.astype(str)) == binary_mlp.COLUMNS
    assert (solved.parameters == 783 * 15 + 15 * 15 + 15 * 10).all() and (solved.patterns == 20).all()
    counts = solved.groupby("quantity").size().to_dict()
    expected = {
        "train_error": 3,
        "overlap": 3 * (1 + 3),
        "overlap_untrained": 3 * (1 + 3),
        "flipped_train_error": 3 * 2,
        "flipped_control_error": 3 * 2,
    }
    assert counts == expected
    assert (solved[solved.quantity == "train_error"].value == 0).all()
    # The overlap of the whole is the mean over weights.
    layers = solved[(solved.quantity == "overlap") & (solved["sample"] == 0) & (solved.other == 1)].set_index("layer")
    sizes = np.array([783 * 15, 15 * 15, 15 * 10])
    assert layers.value[pd.NA] == pytest.approx(layers.value[[0, 1, 2]] @ sizes / sizes.sum(), abs=1e-12)


def test_the_control_is_a_solution_that_is_sharp():
    still = table(distances=(1e-9, 0.01))
    means = still.groupby(["quantity", "distance"]).value.mean().unstack("quantity")
    assert means.loc[1e-9, "flipped_control_error"] == means.loc[1e-9, "flipped_train_error"] == 0
    assert means.loc[0.01, "flipped_control_error"] > 3 * means.loc[0.01, "flipped_train_error"]


def test_networks_with_errors_are_not_perturbed():
    failed = table(task=1, epochs=2)
    assert (failed[failed.quantity == "train_error"].value > 0).any()
    assert "flipped_train_error" not in set(failed.quantity)


def test_the_same_table_again_and_with_checkpoints(solved, tmp_path):
    pd.testing.assert_frame_equal(table(checkpoint=tmp_path / "run"), solved)
    assert not list(tmp_path.iterdir())


def test_more_samples_change_no_old_row(solved):
    more = table(samples=4)
    old = more[(more["sample"] < 3) & ~(more.other == 3).fillna(False)].reset_index(drop=True)
    # Sums are exact: beside another network each one ends with the same bits.
    pd.testing.assert_frame_equal(old, solved)


def test_parity_has_two_classes_and_cifar_three_layers():
    parity = table(dataset="mnist", labels="parity", epochs=1)
    assert (parity.parameters == 783 * 15 + 15 * 15 + 15 * 2).all()
    photographs = table(dataset="cifar10", hidden_layers=3, epochs=1)
    assert (photographs.parameters == 3071 * 15 + 2 * 15 * 15 + 15 * 10).all()


def test_each_dataset_is_read_alone():
    names = ("mnist", "fashion_mnist", "cifar10")
    assert [parameters(dataset=name).datasets() for name in names] == [(name,) for name in names]


def test_more_images_than_there_are_are_refused():
    with pytest.raises(DataError, match="found 5000 training examples in this part, expected 5010"):
        table(patterns=(5010,))


def test_inputs_are_pixels_above_the_median_and_parts_are_nested():
    made = parameters()
    context = Context(seed=1, data={"fashion_mnist": EMBEDDED / "fashion_mnist.npz"}, report=print)
    small, large = (binary_mlp._images(made, patterns, context) for patterns in (20, 60))
    assert small[0].shape == (20, 783) and set(small[0].unique().tolist()) == {-1.0, 1.0} and small[2] == 10
    assert np.bincount(small[1]).tolist() == [2] * 10
    images = prepared.load(context.data["fashion_mnist"]).train.inputs.reshape(-1, 784).astype(float)
    wanted = {np.where(image > np.median(image), 1, -1)[:783].tobytes() for image in images}
    rows = [{row.astype(int).tobytes() for row in part[0].numpy()} for part in (small, large)]
    assert rows[0] < rows[1] <= wanted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": (25,)}, "multiple of 10"),
        ({"patterns": (60, 20)}, "increase"),
        ({"width": 16}, "must be odd"),
        ({"distances": (0.1, 1.5)}, "less than or equal to 0.99"),
        ({"labels": "digits"}, "parity"),
    ],
)
def test_parameters_are_checked(change, message):
    with pytest.raises(ValidationError, match=message):
        parameters(**change)
