"""What the experiments on trained networks share: rows of numbers, pairs of networks, noise on their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from torch import Tensor

    from localentropy.networks.layers import Layers

NOISE_LEVELS = "standard deviations of the relative noise on the weights of solutions (C)"

Names = TypeVar("Names", bound=tuple[str, ...])


def _distinct(names: Names) -> Names:
    if len(set(names)) < len(names):
        raise ValueError(f"must differ from each other, got {', '.join(names)}")
    return names


Distinct = Annotated[Names, Field(min_length=1), AfterValidator(_distinct)]
"""Several different words."""


class NetworkTable:
    """Rows of one task, in tidy form: each number in column `value`, and what it is in the others.

    Args:
        columns: names and types, in their order.
        common: values that all rows share.
    """

    def __init__(self, columns: Mapping[str, str], **common: str | int) -> None:
        self.columns = columns
        self.common = common
        self.rows: list[dict[str, Any]] = []

    def samples(self, quantity: str, samples: Iterable[int], values: Iterable[Any], **where: float) -> None:
        """One row for each of these samples."""
        for sample, value in zip(samples, values, strict=True):
            self.rows.append({"quantity": quantity, "sample": sample, **where, "value": float(value)})

    def layers(self, quantity: str, samples: Sequence[int], values: Tensor, **where: float) -> None:
        """One row for each sample and layer, of values [samples, layers]."""
        for layer, of_layer in enumerate(values.unbind(1)):
            self.samples(quantity, samples, of_layer, layer=layer, **where)

    def compare(self, quantity: str, networks: Layers) -> None:
        """Overlaps of all pairs of normalised networks after alignment, of the whole and of each layer."""
        from localentropy.networks.align import align, layer_overlaps, overlap

        pairs = list(combinations(range(networks.networks), 2))
        reference = networks.select([sample for sample, _ in pairs])
        aligned, _ = align(reference, networks.select([other for _, other in pairs]))
        self._pairs(quantity, pairs, overlap(reference, aligned))
        for layer, of_layer in enumerate(layer_overlaps(reference, aligned).unbind(1)):
            self._pairs(quantity, pairs, of_layer, layer=layer)

    def perturb(
        self,
        samples: Sequence[int],
        solutions: Layers,
        errors: Callable[[Any], Tensor],
        *,
        sigmas: Sequence[float],
        draws: int,
        generators: Sequence[np.random.Generator],
    ) -> None:
        """Local energy of normalised solutions: distances and train errors at each level of noise, means over draws.

        Args:
            samples: of the solutions.
            solutions: normalised networks.
            errors: train error of networks like them, [solutions].
            sigmas: levels of noise.
            draws: perturbations of each solution at each level.
            generators: one for each solution.
        """
        from localentropy.landscape.local_energy import local_energy
        from localentropy.networks.normalise import normalise

        def evaluate(weights: Tensor) -> tuple[Tensor, Tensor]:
            perturbed, _ = normalise(solutions.with_weights(weights))
            return perturbed.flat_weights(), errors(perturbed)

        energy = local_energy(
            solutions.flat_weights(), evaluate, units=solutions.units, sigmas=sigmas, draws=draws, generators=generators
        )
        for level, sigma in enumerate(sigmas):
            self.samples("noise_distance", samples, energy.distance_per_unit[level].mean(1), sigma=sigma)
            self.samples("noise_distance_raw", samples, energy.distance[level].mean(1), sigma=sigma)
            self.samples("noise_train_error", samples, energy.train_error[level].mean(1), sigma=sigma)

    def frame(self) -> pd.DataFrame:
        """The table, with all columns whatever rows there are."""
        import pandas as pd

        frame = pd.DataFrame(self.rows).assign(**self.common).reindex(columns=list(self.columns))
        return frame.astype(dict(self.columns))

    def _pairs(self, quantity: str, pairs: list[tuple[int, int]], values: Iterable[Any], **where: float) -> None:
        """One row for each pair of samples."""
        for (sample, other), value in zip(pairs, values, strict=True):
            self.rows.append({"quantity": quantity, "sample": sample, "other": other, **where, "value": float(value)})
