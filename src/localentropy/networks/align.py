"""Alignment of networks, and their overlaps.

The order of the hidden units does not change what a network computes. So the units of one network are permuted to match
those of the other before the weights are compared. Units are those of a perceptron, or the channels of a convolution.
An odd unit without bias has a sign too: its incoming and outgoing weights may change sign together.
Source: overparam, §III; margins, supplement IV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scipy.optimize import linear_sum_assignment

from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.networks.layers import Layers, Networks, require_alike, require_networks


def _permuted(networks: Networks, permutations: Sequence[Tensor]) -> Networks:
    """The same functions with hidden units in another order.

    Unit i of hidden layer l becomes the old unit `permutations[l][network, i]`; each tensor is [networks, units].
    """
    weights, biases = list(networks.weights), list(networks.biases)
    for layer, order in enumerate(permutations):
        weights[layer] = _reordered(weights[layer], order, 1)
        if biases:
            biases[layer] = _reordered(biases[layer], order, 1)
        weights[layer + 1] = _reordered(weights[layer + 1], order, 2)
    return replace(networks, weights=tuple(weights), biases=tuple(biases))


def _turned(networks: Networks, signs: Sequence[Tensor]) -> Networks:
    """The same functions of odd units without biases, with some units turned.

    The incoming and outgoing weights of unit i of hidden layer l are multiplied by `signs[l][network, i]`, ±1; each
    tensor is [networks, units].
    """
    weights = list(networks.weights)
    for layer, sign in enumerate(signs):
        weights[layer] = weights[layer] * sign[:, :, None]
        weights[layer + 1] = weights[layer + 1] * sign[:, None]
    return replace(networks, weights=tuple(weights))


def align(reference: Networks, other: Networks) -> tuple[Networks, list[Tensor]]:
    """Permute the hidden units of each network of `other` to match the network of `reference` with the same index.

    The layers are matched one by one, from the inputs on. The permutation of the layer below is applied first. The
    matching maximises the sum of the cosines between incoming weights. For normalised networks (see `normalise`) this
    gives the smallest distance between the weights of the layer. Biases and the weights of the outputs are not used.

    Args:
        reference: the networks that stay.
        other: the networks whose hidden units are permuted; as many, of the same kind and shape.

    Returns:
        The permuted networks, and for each hidden layer the permutation [networks, units]: unit i of the layer was the
        unit permutation[network, i].

    Raises:
        DomainError: networks of two kinds or shapes.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.align import align, overlap
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> one, other = (random_orthogonal(Shape(10, 8, 2), [np.random.default_rng(seed)]) for seed in (0, 1))
        >>> permuted, permutations = align(one, other)
        >>> overlap(one, other).item() < overlap(one, permuted).item(), permutations[0].shape
        (True, torch.Size([1, 8]))
    """
    require_networks("reference", reference)
    require_alike("other", other, reference)
    permutations: list[Tensor] = []
    permuted = other
    for layer in range(len(other.weights) - 1):
        permutations.append(_matched(_cosines(reference, permuted, layer)))
        permuted = _permuted(other, permutations)
    return permuted, permutations


def align_with_signs(reference: Networks, other: Networks) -> tuple[Networks, list[Tensor], list[Tensor]]:
    """Permute and turn the hidden units of each network of `other` to match that of `reference`.

    The layers are matched one by one, as in `align`, but the matching maximises the sum of the absolute cosines. A unit
    whose cosine is negative is then turned. What the outputs receive is not used. Units must be odd and have no biases.

    Args:
        reference: the networks that stay.
        other: the networks whose hidden units are permuted and turned; as many, of the same kind and shape.

    Returns:
        The matched networks; and for each hidden layer the permutation (see `align`) and the signs ±1 by which the
        weights of each unit are multiplied after the permutation, each [networks, units].

    Raises:
        DomainError: networks of two kinds or shapes, or with biases.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.align import align_with_signs, overlap
        >>> from localentropy.networks.binary_mlp.network import BinaryNetworks, Shape, uniform_initialization
        >>> start = uniform_initialization(Shape(51, 21, 1, 3), [np.random.default_rng(0)], 1.0)
        >>> network = BinaryNetworks.of(start)
        >>> turned = BinaryNetworks((-network.weights[0], -network.weights[1]), ())  # the same function
        >>> overlap(network, align_with_signs(network, turned)[0]).item()
        1.0
    """
    require_networks("reference", reference)
    require_alike("other", other, reference)
    if other.biases:
        raise DomainError("other: these networks have biases, allowed are networks without; a unit with one is not odd")
    permutations: list[Tensor] = []
    signs: list[Tensor] = []
    matched = other
    for layer in range(len(other.weights) - 1):
        cosines = _cosines(reference, matched, layer)
        permutations.append(_matched(cosines.abs()))
        own = cosines.take_along_dim(permutations[-1][:, :, None], 2)[:, :, 0]
        signs.append(torch.where(own < 0, -1, 1).to(other.weights[layer].dtype))
        matched = _turned(_permuted(other, permutations), signs)
    return matched, permutations, signs


def overlap(first: Layers, second: Layers) -> Tensor:
    """Cosine between the weights of networks with the same index.

    q = Σ w w' / (‖w‖ ‖w'‖) over the weights of all layers, without biases. In normalised networks all hidden units
    have the same weight in this sum, and so has a single output. Of several outputs those of larger norm count more.

    Args:
        first: networks.
        second: as many, of the same kind and shape.

    Returns:
        float64 [networks].

    Raises:
        DomainError: networks of two kinds or shapes, or one whose weights are all zeros.

    Example:
        >>> import torch
        >>> from localentropy.networks.align import overlap
        >>> from localentropy.networks.layers import Layers
        >>> one, other = Layers((torch.tensor([[[3.0, 4.0]]]),), ()), Layers((torch.tensor([[[4.0, 3.0]]]),), ())
        >>> overlap(one, other).tolist()
        [0.96]
    """
    return _cosine(*(products.sum(1) for products in _all_products(first, second)))


def layer_overlaps(first: Layers, second: Layers) -> Tensor:
    """Cosine between the weights of each layer, from the inputs to the outputs.

    Args:
        first: networks.
        second: as many, of the same kind and shape.

    Returns:
        float64 [networks, layers].

    Raises:
        DomainError: networks of two kinds or shapes, or a layer whose weights are all zeros.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.align import layer_overlaps
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> networks = random_orthogonal(Shape(10, 8, 2), [np.random.default_rng(0)])
        >>> layer_overlaps(networks, networks).round(decimals=6).tolist()
        [[1.0, 1.0, 1.0]]
    """
    return _cosine(*_all_products(first, second))


def _all_products(first: Layers, second: Layers) -> tuple[Tensor, Tensor, Tensor]:
    """Scalar products of first and second, of first and of second with itself, [networks, layers] each."""
    require_networks("first", first)
    require_alike("second", second, first)
    return _products(first, second), _products(first, first), _products(second, second)


def _cosine(product: Tensor, square: Tensor, other_square: Tensor) -> Tensor:
    if not bool((square > 0).all() and (other_square > 0).all()):
        raise DomainError("first, second: weights are all zeros, which have no direction")
    return product / (square * other_square).sqrt()


def _cosines(first: Layers, second: Layers, layer: int) -> Tensor:
    """Cosines between the incoming weights of the units of a layer, float64 [networks, units, units of the other]."""
    one, other = (n.weights[layer].double().flatten(2) for n in (first, second))
    norms = one.norm(dim=2)[:, :, None] * other.norm(dim=2)[:, None]
    # Products first: those of binary weights are exact. Many are equal, and rounding would decide what is matched.
    return one @ other.mT / norms.clamp_min(torch.finfo(norms.dtype).tiny)


def _matched(scores: Tensor) -> Tensor:
    """For each unit of one network that of the other, so that the sum of the scores is largest, [networks, units]."""
    columns = [linear_sum_assignment(matrix.cpu().numpy(), maximize=True)[1] for matrix in scores]
    return torch.stack([torch.from_numpy(column) for column in columns]).to(scores.device)


def _products(first: Layers, second: Layers) -> Tensor:
    """Scalar products of the weights of each layer, [networks, layers]."""
    pairs = zip(first.weights, second.weights, strict=True)
    return torch.stack([(a.double() * b.double()).flatten(1).sum(1) for a, b in pairs], 1)


def _reordered(tensor: Tensor, order: Tensor, dimension: int) -> Tensor:
    """The tensor with one dimension reordered, for each network by its own row of `order` [networks, units]."""
    shape = [len(order)] + [1] * (tensor.ndim - 1)
    shape[dimension] = -1
    return tensor.take_along_dim(order.reshape(shape), dimension)
