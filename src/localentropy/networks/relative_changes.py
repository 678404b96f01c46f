"""A network as a model of PyTorch whose parameters are the relative changes of its weights."""

from __future__ import annotations

from dataclasses import replace

from localentropy.device import torch
from localentropy.errors import DomainError
from localentropy.networks.layers import Layers, require_networks


class RelativeChanges(torch.nn.Module):
    """The network with the weights w (1 + s). Its parameters are the changes s, which are 0 at first.

    Multiplicative noise (`landscape.local_energy`) is a random s. By s the Hessian of a loss stays the same if units of
    ReLU networks are rescaled, which the Hessian by w does not (Dinh et al., arXiv:1703.04933). Biases are not changed.

    Small noise σ raises the loss by σ²/2 times the trace of this Hessian. Where the noise takes units over the kink of
    their ReLU it raises the loss by more: a kink has no second derivative.

    Attributes:
        network: a single one.
        changes: of each layer, of the shape of its weights.

    Raises:
        DomainError: `network` is not a `Layers` object, or has several networks.

    Example:
        >>> import torch
        >>> from localentropy.landscape.spectra import Hessian, trace
        >>> from localentropy.networks.layers import Layers
        >>> from localentropy.networks.relative_changes import RelativeChanges
        >>> model = RelativeChanges(Layers((torch.tensor([[[1.0, 3.0]]]),), ()))
        >>> loss = lambda model: (model().weights[0] ** 2).sum()  # w² (1 + s)², with the second derivatives 2 w²
        >>> trace(Hessian(loss, model), seed=0).mean
        20.0
    """

    def __init__(self, network: Layers) -> None:
        require_networks("network", network)
        if network.networks != 1:
            raise DomainError(f"network = {network.networks} networks: allowed is one")
        super().__init__()
        self.network = network
        self.changes = torch.nn.ParameterList([torch.zeros_like(weight) for weight in network.weights])

    def forward(self) -> Layers:
        """The network with its changes, of the kind that it was."""
        pairs = zip(self.network.weights, self.changes, strict=True)
        return replace(self.network, weights=tuple(weight * (1 + change) for weight, change in pairs))
