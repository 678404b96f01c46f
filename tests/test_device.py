"""Where PyTorch computes: what is refused, by whom, and in which words."""

from __future__ import annotations

import pytest
import torch

from localentropy.device import torch_device
from localentropy.errors import DomainError
from localentropy.instances.committee import random_tree_committee
from localentropy.instances.perceptron import random_patterns
from localentropy.solvers.binary.binarynet import binarynet
from localentropy.solvers.committee.sgd import committee_sgd


def test_the_processor_is_always_there():
    assert torch_device("cpu").type == "cpu"


@pytest.mark.parametrize("name", ["meta", "gpu", "cuda:0", "mps", None])
def test_other_devices_are_refused_by_all_who_compute_with_pytorch(name):
    for compute in (
        lambda: torch_device(name),
        lambda: binarynet(random_patterns(N=33, P=9, seed=0), seed=0, device=name),
        lambda: committee_sgd(random_tree_committee(N=27, P=5, K=9, seed=0), seed=0, device=name),
    ):
        with pytest.raises(DomainError, match=r"device = .* is not known: allowed are cpu, cuda") as refused:
            compute()
        assert "\n" not in str(refused.value)


def test_no_gpu_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DomainError, match="device: cuda was asked for, but PyTorch finds no GPU; use device: cpu"):
        torch_device("cuda")
