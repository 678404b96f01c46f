"""The experiment behind figures 7 and 14 on few images: what its table holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy.errors import DomainError
from localentropy.programs.overparam import cnn
from localentropy.programs.parts.parameters import Context

DATA = {"cifar10": Path(__file__).parents[2] / "data/embedded/cifar10.npz"}
TINY: dict[str, Any] = {
    "widths": (2, 4),
    "optimizers": ("sgd", "adam"),
    "training_patterns": 30,
    "test_patterns": 50,
    "samples": 3,
    "epochs": 24,
    "batch": 15,
    "initialization": "pytorch",
    "sgd_learning_rate": 0.01,
    "adam_learning_rate": 0.01,
    "sgd_momentum": 0.9,
    "solution_errors": 1,
    "noise_levels": (0.0, 0.3),
    "noise_draws": 2,
    "hessian_patterns": 20,
    "hessian_draws": 2,
    "networks_at_once": 1,
    "precision": "float32",
    "device": "cpu",
}


def table(task=1, checkpoint=None, identity="", report=lambda line: None, **changes):
    parameters = cnn.Parameters(**TINY | changes)
    context = Context(seed=1, data=DATA, report=report, checkpoint=checkpoint, identity=identity)
    return cnn.compute(parameters, cnn.tasks(parameters)[task], context)


@pytest.fixture(scope="module")
def sgd():
    return table()


def test_tasks():
    assert cnn.tasks(cnn.Parameters(**TINY)) == [
        {"optimizer": "sgd", "width": 2},
        {"optimizer": "sgd", "width": 4},
        {"optimizer": "adam", "width": 2},
        {"optimizer": "adam", "width": 4},
    ]


def test_rows(sgd):
    assert dict(sgd.dtypes.astype(str)) == cnn.COLUMNS
    counts = sgd.groupby("quantity").size().to_dict()
    assert all(counts[quantity] == 3 for quantity in ("train_error", "test_error", "solved", "loss"))
    assert counts["dead_channels"] == 3 * 4
    assert counts["overlap"] == counts["overlap_untrained"] == 3 * (1 + 5)
    assert counts["overlap_start"] == 3 * 5 * (24 + 1) + 3
    first = sgd[(sgd.quantity == "overlap_start") & (sgd.epoch == 0)]
    np.testing.assert_allclose(first.value, 1, atol=1e-12)
    # The whole is one cosine: between the extremes of those of the layers, whose squared norms weigh them.
    last = sgd[(sgd.quantity == "overlap_start") & (sgd.epoch == 24)]
    layers = last.dropna(subset="layer").groupby("sample").value
    whole = last[last.layer.isna()].set_index("sample").value
    assert (whole < layers.max()).all() and (whole > layers.min()).all()


def test_solutions_are_perturbed_and_no_noise_gives_their_train_error(sgd):
    rows = sgd.set_index(["quantity", "sample"])
    errors = np.round(rows.value["train_error"] * 30)
    assert (rows.value["solved"] == (errors <= 1)).all()
    solved = rows.value["solved"][rows.value["solved"] == 1].index
    assert len(solved) > 0
    quiet = rows[rows.sigma == 0].value
    assert quiet["noise_train_error"].equals(rows.value["train_error"].loc[solved])
    assert (quiet["noise_distance"] < 1e-5).all()


def test_networks_that_are_no_solutions_are_not_perturbed():
    hopeless = table(task=0, epochs=1, solution_errors=0)
    assert (hopeless[hopeless.quantity == "solved"].value == 0).all()
    assert not hopeless.quantity.str.startswith(("noise", "hessian")).any()


def test_solutions_have_a_hessian_whose_trace_is_that_of_its_layers(sgd):
    solved = int(sgd[sgd.quantity == "solved"].value.sum())
    traces = sgd[sgd.quantity == "hessian_trace"]
    whole = traces[traces.layer.isna()].set_index("sample").value
    assert len(whole) == (sgd.quantity == "hessian_largest").sum() == solved
    np.testing.assert_allclose(traces.groupby("sample").value.sum() - whole, whole, rtol=1e-5)
    assert (sgd[sgd.quantity == "hessian_largest"].value > 0).all()


def test_a_hessian_has_no_more_patterns_than_there_are(sgd):
    every, more = (table(hessian_patterns=count) for count in (30, 40))
    pd.testing.assert_frame_equal(every, more)
    curved = sgd.quantity.str.startswith("hessian")
    assert (every.value[curved] != sgd.value[curved]).all() and every[~curved].equals(sgd[~curved])


def test_the_same_table_again_and_with_checkpoints(sgd, tmp_path):
    pd.testing.assert_frame_equal(table(checkpoint=tmp_path / "run"), sgd)
    assert not list(tmp_path.iterdir())


def test_only_the_same_code_and_data_go_on_from_a_checkpoint(sgd, tmp_path):
    def interrupt(line):
        if "solved" in line:
            raise KeyboardInterrupt

    for identity, words in (("code A", "going on from checkpoint"), ("code B", "belongs to another run")):
        with pytest.raises(KeyboardInterrupt):
            table(checkpoint=tmp_path / "run", identity="code A", report=interrupt)
        lines: list[str] = []
        pd.testing.assert_frame_equal(table(checkpoint=tmp_path / "run", identity=identity, report=lines.append), sgd)
        assert sum(words in line for line in lines) == 1
    assert not list(tmp_path.iterdir())


def test_networks_at_once_change_nothing_but_rounding(sgd):
    together = table(networks_at_once=2, epochs=2)
    alone = table(epochs=2)
    keys = ["quantity", "sample", "other", "layer", "epoch", "sigma"]
    for quantity in ("loss", "overlap_start", "overlap_untrained"):
        one, two = (rows[rows.quantity == quantity].sort_values(keys).value.to_numpy() for rows in (together, alone))
        np.testing.assert_allclose(one, two, rtol=2e-3)


def test_both_optimizers_start_from_the_same_networks(sgd):
    adam = table(task=3, epochs=1)
    untrained = [rows[rows.quantity == "overlap_untrained"].value.to_numpy() for rows in (sgd, adam)]
    np.testing.assert_array_equal(*untrained)


def test_float32_is_not_rounded_to_fewer_digits_on_a_gpu(sgd):
    import torch

    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cudnn.deterministic


def test_no_gpu_is_said_in_one_line(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DomainError, match="finds no GPU"):
        table(device="cuda")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"training_patterns": 101}, "multiple of 10"),
        ({"widths": (12, 6)}, "increase"),
        ({"optimizers": ("adam", "adam")}, "differ"),
        ({"samples": 2}, "greater than or equal to 3"),
        ({"sgd_momentum": 1.0}, "less than 1"),
        ({"width": 3}, "not permitted"),
    ],
)
def test_parameters_are_checked(change, message):
    with pytest.raises(ValidationError, match=message):
        cnn.Parameters(**TINY | change)
