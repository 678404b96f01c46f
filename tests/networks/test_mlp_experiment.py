"""The experiment behind figure 6 on few patterns: what its table holds."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy.programs.overparam import mlp
from localentropy.programs.parts.parameters import Context

DATA = {"mnist_parity": Path(__file__).parents[2] / "data/embedded/mnist_parity.npz"}
TINY: dict[str, Any] = {
    "widths": (6, 12),
    "wide": 12,
    "wide_samples": 3,
    "initializations": ("random_orthogonal", "adversarial"),
    "hidden_layers": 5,
    "gain": 2**0.5,
    "preparation": "scaled",
    "training_patterns": 100,
    "samples": 4,
    "margin": 1.0,
    "learning_rate": 1e-3,
    "narrow": 100,
    "epochs": 400,
    "smallest_loss": 1e-4,
    "random_label_epochs": 20,
    "random_label_learning_rate": 0.01,
    "random_label_batch": 30,
    "noise_levels": (0.0, 0.3),
    "noise_draws": 2,
    "hessian_patterns": 20,
    "hessian_draws": 2,
    "device": "cpu",
}


NOISE = ("train_error", "distance", "distance_raw")


def table(task=3, checkpoint=None, **changes):
    parameters = mlp.Parameters(**TINY | changes)
    context = Context(seed=1, data=DATA, report=lambda line: None, checkpoint=checkpoint)
    return mlp.compute(parameters, mlp.tasks(parameters)[task], context)


@pytest.fixture(scope="module")
def adversarial():
    return table()


def test_tasks():
    assert mlp.tasks(mlp.Parameters(**TINY)) == [
        {"initialization": "random_orthogonal", "width": 6},
        {"initialization": "random_orthogonal", "width": 12},
        {"initialization": "adversarial", "width": 6},
        {"initialization": "adversarial", "width": 12},
    ]


def test_rows(adversarial):
    assert dict(adversarial.dtypes.astype(str)) == mlp.COLUMNS
    assert (adversarial.parameters == 12 * 11 + 4 * 12 * 13 + 13).all()
    counts = adversarial.groupby("quantity").size().to_dict()
    per_sample = ["train_error", "test_error", "loss", "zero_error_epoch", "stop_epoch", "random_label_error"]
    per_sample += ["random_label_overlap_start"]
    assert {quantity: counts[quantity] for quantity in per_sample} == dict.fromkeys(per_sample, 3)
    assert counts["dead_units"] == 3 * 5
    assert counts["overlap"] == counts["overlap_untrained"] == 3 * (1 + 6)
    assert counts["overlap_start"] == 3 * (1 + 6)
    assert counts["silent_units"] == counts["activation_change"] == 3 * 5
    assert (counts["hessian_trace"], counts["hessian_largest"]) == (3 * (1 + 6), 3)
    noise = [counts[f"{kind}_{name}"] for kind in ("noise", "random_label_noise") for name in NOISE]
    assert noise == [3 * 2] * 6
    whole = adversarial[adversarial.layer.isna()].set_index(["quantity", "sample", "other"]).value
    assert whole["random_label_error"].between(0, 0.6).all()
    assert ((whole["random_label_overlap_start"] > 0.2) & (whole["random_label_overlap_start"] < 1.0)).all()


def test_no_noise_gives_the_error(adversarial):
    rows = adversarial.set_index(["quantity", "sample"])
    quiet = rows[rows.sigma == 0].value
    assert quiet["noise_train_error"].equals(rows.value["train_error"])
    assert quiet["random_label_noise_train_error"].equals(rows.value["random_label_error"])
    assert (quiet["noise_distance"] < 1e-5).all()


def test_untrained_networks_are_the_same_from_both_starts(adversarial):
    orthogonal = table(task=1)
    for quantity, same in (("overlap_untrained", True), ("overlap", False), ("overlap_start", False)):
        one, other = (rows[rows.quantity == quantity].value.to_list() for rows in (orthogonal, adversarial))
        assert (one == other) is same


def test_wide_networks_have_samples_of_their_own():
    assert table(task=0)["sample"].nunique() == 4


def test_the_learning_rate_falls_with_the_width_beyond_narrow_networks():
    parameters = mlp.Parameters(**TINY | {"learning_rate": 1e-4})
    rates = {width: parameters.rate_of(width) for width in (12, 100, 400)}
    assert rates == pytest.approx({width: min(1e-4, 0.1 * width**-1.5) for width in rates}, rel=1e-12)
    assert rates[400] == pytest.approx(1.25e-5)
    wide, narrow = (table(task=1, narrow=width, epochs=50) for width in (3, 12))
    losses = [rows[rows.quantity == "loss"].value.mean() for rows in (wide, narrow)]
    assert losses[0] > losses[1]  # an eighth of the step, so it is behind


def test_patterns_and_gain_are_those_asked_for():
    """Whitening hides the scale of each component, so the test error changes; the gain is seen before any training."""

    def values(**changes):
        rows = table(task=1, **changes)
        return rows[rows.layer.isna()].groupby("quantity").value.mean()

    usual, whitened, plain = values(), values(preparation="whitened"), values(gain=1.0)
    assert usual["overlap_untrained"] == pytest.approx(whitened["overlap_untrained"], abs=1e-6)
    assert usual["test_error"] != whitened["test_error"]
    assert usual["loss"] != plain["loss"]


def test_the_same_table_again_and_with_checkpoints(adversarial, tmp_path):
    pd.testing.assert_frame_equal(table(checkpoint=tmp_path / "run"), adversarial)
    assert not list(tmp_path.iterdir())


def test_more_samples_change_no_old_row(adversarial):
    more = table(wide_samples=4)
    old = more[(more["sample"] < 3) & ~(more.other == 3).fillna(False)]
    for quantity in ("random_label_error", "train_error", "test_error", "overlap_untrained", "noise_distance"):
        pd.testing.assert_series_equal(
            old[old.quantity == quantity].value,
            adversarial[adversarial.quantity == quantity].value,
            check_index=False,
            rtol=1e-5,
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"training_patterns": 101}, "even"),
        ({"widths": (12, 6)}, "increase"),
        ({"initializations": ("adversarial", "adversarial")}, "differ"),
        ({"wide_samples": 2}, "greater than or equal to 3"),
        ({"margin": 0.0}, "greater than 0"),
        ({"width": 3}, "not permitted"),
    ],
)
def test_parameters_are_checked(change, message):
    with pytest.raises(ValidationError, match=message):
        mlp.Parameters(**TINY | change)
