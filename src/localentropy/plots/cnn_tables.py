"""Parts of the figures of convolutional networks: sentences of their captions, and ticks of the axis of widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def training(table: pd.DataFrame) -> str:
    """The sentence on networks, data, training and solutions."""
    p = table.attrs["parameters"]
    part = "" if p["training_patterns"] == 50_000 else " (a class-balanced part)"
    settings = {"sgd": f"SGD (momentum {p['sgd_momentum']:g})", "adam": "Adam"}
    return (
        f"Five-layer convolutional networks with k, 2k, 4k and 8k filters on CIFAR-10: {p['training_patterns']} "
        f"training images{part}, {p['test_patterns']} test images, He initialization, cross-entropy, {p['epochs']} epochs "
        f"in batches of {p['batch']}, {' and '.join(settings[optimizer] for optimizer in p['optimizers'])} with one "
        f"learning rate, {p['learning_rate']:g}; a solution misclassifies at most {p['solution_errors']} training image."
    )


def below_paper(table: pd.DataFrame, scale: str) -> str:
    """The sentences on choices made here, and on sizes below those of the paper."""
    chosen = "Widths, pools, learning rate, batch size, momentum and noise levels are chosen here; compare with the paper's figure."
    if scale == "paper":
        return chosen
    p = table.attrs["parameters"]
    return (
        f"{chosen} Scale {scale}: below the paper's size (50 000 training images, 200 epochs, 5 networks; here "
        f"{p['training_patterns']}, {p['epochs']} and {p['samples']})."
    )


def powers_of_two(widths: pd.Series | pd.Index) -> list[int]:
    """Powers of two in the range of the widths: ticks of a logarithmic axis."""
    return [2**power for power in range(20) if widths.min() <= 2**power <= widths.max()]
