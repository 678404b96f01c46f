"""Rows of numbers in tidy form: the column `value` has the number, the other columns name it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from torch import Tensor


class Rows:
    """Rows of one task.

    Args:
        columns: names and types, in their order.
        common: values that all rows share.
    """

    def __init__(self, columns: Mapping[str, str], **common: Any) -> None:
        self.columns = columns
        self.common = common
        self.rows: list[dict[str, Any]] = []

    def add(self, numbers: Mapping[str, Iterable[Any]], **where: Any) -> None:
        """One row for each number of each quantity.

        Args:
            numbers: quantity → numbers.
            where: column → one value for all rows of a quantity, or a sequence with one for each.
        """
        for quantity, values in numbers.items():
            found = [float(value) for value in values]
            places = [each if isinstance(each, Sequence) else [each] * len(found) for each in where.values()]
            for value, *place in zip(found, *places, strict=True):
                self.rows.append({"quantity": quantity, **dict(zip(where, place, strict=True)), "value": value})

    def layers(self, quantity: str, values: Tensor, **where: Any) -> None:
        """One row for each network and layer, of values [networks, layers]."""
        for layer, of_layer in enumerate(values.unbind(1)):
            self.add({quantity: of_layer}, layer=layer, **where)

    def noise(self, sigmas: Sequence[float], draws: Mapping[str, np.ndarray], **where: Any) -> None:
        """Means over draws at each level of noise, of values [sigmas, solutions, draws]."""
        for level, sigma in enumerate(sigmas):
            means = {quantity: values[level].mean(1) for quantity, values in draws.items()}
            self.add(means, sigma=sigma, **where)

    def frame(self) -> pd.DataFrame:
        """The table. It always has all columns."""
        import pandas as pd

        frame = pd.DataFrame(self.rows).assign(**self.common).reindex(columns=list(self.columns))
        return frame.astype(dict(self.columns))
