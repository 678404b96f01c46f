"""Ensembles of networks as the weights and biases of their layers: the form in which networks are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from localentropy.arguments import require_integer, require_list, require_shape, require_tensor
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError


@dataclass(frozen=True)
class Layers:
    """Networks of one shape: perceptrons, or convolutional networks without batch norm.

    A unit has incoming weights and a bias of its own. It is a hidden unit, a channel or an output.

    Attributes:
        weights: for each layer a tensor [networks, outputs, inputs, …]; a filter's taps are its last dimension.
        biases: for each layer a tensor [networks, outputs]; empty where units have none.

    Raises:
        DomainError: a weight or bias that is not a tensor, or not finite; tensors of several types, or of shapes that
            do not follow each other.

    Example:
        >>> import torch
        >>> from localentropy.networks.layers import Layers
        >>> two = Layers((torch.ones(2, 5, 3), torch.ones(2, 1, 5)), ())  # 3 inputs, 5 hidden units, an output
        >>> two.networks, two.units, two.flat_weights().shape
        (2, 6, torch.Size([2, 20]))
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        weights = require_list("weights", self.weights, Tensor)
        biases = require_list("biases", self.biases, Tensor)
        if not weights or len(biases) not in (0, len(weights)):
            raise DomainError(f"{len(weights)} weights and {len(biases)} biases: allowed are one each, or no biases")
        sizes: tuple[int | str, int | str] = ("networks", "inputs")
        for layer, weight in enumerate(weights):
            shapes = [(sizes[0], "outputs", sizes[1]), (sizes[0], "outputs", sizes[1], "taps")]
            require_tensor(f"weights of layer {layer}", weight, *shapes, like=weights[0] if layer else None)
            sizes = len(weight), weight.shape[1]
            if biases:
                require_tensor(f"biases of layer {layer}", biases[layer], sizes, like=weights[0])
        object.__setattr__(self, "weights", tuple(weights))
        object.__setattr__(self, "biases", tuple(biases))

    @property
    def networks(self) -> int:
        """Number of networks."""
        return len(self.weights[0])

    @property
    def units(self) -> int:
        """Number of units of one network, its outputs included."""
        return sum(weight.shape[1] for weight in self.weights)

    def select(self, networks: Sequence[int]) -> Self:
        """Copy of the networks with these indices, in this order; an index may repeat.

        Raises:
            DomainError: an index out of range, or no index at all.
        """
        index = torch.tensor(require_indices(networks, self.networks), device=self.weights[0].device)
        return replace(self, weights=tuple(w[index] for w in self.weights), biases=tuple(b[index] for b in self.biases))

    def to(self, device: str | torch.device, dtype: torch.dtype | None = None) -> Self:
        """The same networks on a device, in a floating-point type."""
        weights, biases = (tuple(t.to(device, dtype) for t in tensors) for tensors in (self.weights, self.biases))
        return replace(self, weights=weights, biases=biases)

    def flat_weights(self) -> Tensor:
        """All weights of each network, without the biases, [networks, weights]."""
        return torch.cat([weight.flatten(1) for weight in self.weights], 1)

    def with_weights(self, flat: Tensor) -> Self:
        """Networks with the weights given in the order of `flat_weights` and these biases.

        Raises:
            DomainError: weights of another shape or type.
        """
        size = sum(weight[0].numel() for weight in self.weights)
        require_tensor("flat", flat, (self.networks, size), like=self.weights[0])
        parts = flat.split([weight[0].numel() for weight in self.weights], 1)
        weights = tuple(part.view_as(weight) for part, weight in zip(parts, self.weights, strict=True))
        return replace(self, weights=weights)


Networks = TypeVar("Networks", bound=Layers)


def joined(parts: Sequence[Networks]) -> Networks:
    """All networks of several ensembles as one ensemble.

    Args:
        parts: networks of one kind and shape.

    Returns:
        All of them.

    Raises:
        DomainError: none, or networks of several kinds or shapes.

    Example:
        >>> import torch
        >>> from localentropy.networks.layers import Layers, joined
        >>> one = Layers((torch.ones(2, 5, 3),), ())
        >>> joined([one, one, one]).networks
        6
    """
    parts = require_list("parts", parts, Layers)
    if not parts:
        raise DomainError("no parts given: allowed are one or more ensembles")
    for part in parts:
        require_alike("parts", part, parts[0], as_many=False)
    weights, biases = (
        tuple(torch.cat(layer) for layer in zip(*tensors, strict=True))
        for tensors in ([part.weights for part in parts], [part.biases for part in parts])
    )
    return replace(parts[0], weights=weights, biases=biases)


def require_indices(networks: object, count: int) -> list[int]:
    """The argument `networks` as a list of indices of `count` networks.

    Args:
        networks: the argument.
        count: number of networks.

    Returns:
        The indices.

    Raises:
        DomainError: an index out of range, or no index at all.

    Example:
        >>> from localentropy.networks.layers import require_indices
        >>> require_indices(range(3), 5)
        [0, 1, 2]
        >>> require_indices([5], 5)
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: networks = 5 is out of range: allowed are integers from 0 to 4
    """
    listed = networks.tolist() if isinstance(networks, Tensor) else networks
    indices = [require_integer("networks", index, 0, count - 1) for index in require_list("networks", listed)]
    if not indices:
        raise DomainError("networks: no index given")
    return indices


def require_alike(name: str, networks: object, like: Layers, as_many: bool = True) -> None:
    """Refuse networks of another kind or shape than given ones.

    Args:
        name: of the argument.
        networks: the argument.
        like: the given ones.
        as_many: whether their number must be the same too.

    Raises:
        DomainError: says how they differ.

    Example:
        >>> import torch
        >>> from localentropy.networks.layers import Layers, require_alike
        >>> one, wide = Layers((torch.ones(2, 5, 3),), ()), Layers((torch.ones(2, 7, 3),), ())
        >>> require_alike("wide", wide, one)
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: wide: weights of layer 0 of shape (2, 7, 3): allowed is (2, 5, 3)
    """
    if not isinstance(networks, Layers) or type(networks) is not type(like):
        raise DomainError(f"{name} = {type(networks).__name__} object: allowed are networks, {type(like).__name__}")
    if len(networks.weights) != len(like.weights) or bool(networks.biases) != bool(like.biases):
        raise DomainError(f"{name}: networks of {len(networks.weights)} layers, allowed are {len(like.weights)}")
    for layer, (weight, other) in enumerate(zip(networks.weights, like.weights, strict=True)):
        count = len(other) if as_many else len(weight)
        require_shape(f"{name}: weights of layer {layer}", weight.shape, (count, *other.shape[1:]))
        if (weight.dtype, weight.device) != (other.dtype, other.device):
            raise DomainError(
                f"{name}: weights of type {weight.dtype} on {weight.device}, allowed are {other.dtype} on "
                f"{other.device}"
            )


def require_networks(name: str, networks: object, kind: type = Layers) -> None:
    """Refuse what is not an object of the class of networks that is asked for.

    Args:
        name: of the argument.
        networks: the argument.
        kind: what is allowed.

    Raises:
        DomainError: says what it is.

    Example:
        >>> from localentropy.networks.layers import require_networks
        >>> require_networks("networks", 3)
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: networks = int object: allowed are networks, Layers
    """
    if not isinstance(networks, kind):
        raise DomainError(f"{name} = {type(networks).__name__} object: allowed are networks, {kind.__name__}")
