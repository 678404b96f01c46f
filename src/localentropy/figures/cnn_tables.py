"""Parts of the figures of convolutional networks: settings, and ticks of the axis of widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def training(table: pd.DataFrame) -> dict[str, str]:
    """The settings on networks, data, training and solutions."""
    p = table.attrs["parameters"]
    part = "" if p["training_patterns"] == 50_000 else " (a class-balanced part)"
    rules = {
        "sgd": f"SGD (learning rate {p['sgd_learning_rate']:g}, momentum {p['sgd_momentum']:g})",
        "adam": f"Adam (learning rate {p['adam_learning_rate']:g})",
    }
    filters = {"pytorch": "PyTorch's default initialization", "he": "the initialization of He et al. for ReLU"}
    return {
        "networks": f"five layers, of k, 2k, 4k and 8k filters and a linear one; {filters[p['initialization']]}",
        "data": f"{p['training_patterns']} training images{part}, {p['test_patterns']} test images",
        "training": f"cross-entropy, {p['epochs']} epochs in batches of {p['batch']}, "
        f"{' and '.join(rules[optimizer] for optimizer in p['optimizers'])}; activations in {p['precision']}",
        "solution": f"misclassifies at most {p['solution_errors']} training image",
    }


def below_paper(table: pd.DataFrame, scale: str) -> dict[str, str]:
    """The settings on choices made here, and on sizes below those of the paper."""
    chosen = {"chosen here": "widths, pools, learning rates, batch size, momentum and noise levels"}
    if scale == "paper":
        return chosen
    p = table.attrs["parameters"]
    size = (
        "below the paper's size (50 000 training images, 200 epochs, 5 networks): here "
        f"{p['training_patterns']}, {p['epochs']} and {p['samples']}"
    )
    return chosen | {f"scale {scale}": size}


def powers_of_two(widths: pd.Series | pd.Index) -> list[int]:
    """Powers of two in the range of the widths: ticks of a logarithmic axis."""
    return [2**power for power in range(20) if widths.min() <= 2**power <= widths.max()]
