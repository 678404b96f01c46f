"""The moving averages of Adam, for trainers that keep all their parameters in one tensor (Kingma and Ba 2015)."""

from __future__ import annotations

import math

from localentropy.device import Tensor, torch

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # Adam's usual constants


class Adam:
    """State between two updates.

    Attributes:
        mean: moving average of the gradient.
        square: moving average of its square.

    Example:
        >>> import torch
        >>> from localentropy.numerics.adam import Adam
        >>> weights = torch.tensor([1.0, -2.0], dtype=torch.float64)
        >>> adam = Adam(weights)
        >>> denominator, factor = adam.update(2 * weights, number=1, learning_rate=0.1)
        >>> (-factor * adam.mean / denominator).round(decimals=6).tolist()  # of the size of the learning rate
        [-0.1, 0.1]
    """

    def __init__(self, parameters: Tensor) -> None:
        self.mean = torch.zeros_like(parameters)
        self.square = torch.zeros_like(parameters)

    def update(self, gradient: Tensor, number: int, learning_rate: float = 1.0) -> tuple[Tensor, float]:
        """Take in the gradient of update `number` = 1, 2, …

        Returns:
            A denominator and a factor: the step is −factor × mean/denominator.
        """
        self.mean.lerp_(gradient, 1 - BETA_1)
        self.square.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
        correction = math.sqrt(1 - BETA_2**number)
        denominator = self.square.sqrt().add_(EPSILON * correction)
        return denominator, learning_rate * correction / (1 - BETA_1**number)
