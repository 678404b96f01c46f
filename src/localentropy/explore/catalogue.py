"""The figures that can be explored, by target: those that the modules of `explore/papers/` name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec

from localentropy.explore.explorer import Explorer
from localentropy.pipeline.config import Configuration, find_papers, name_target

PAPERS = "localentropy.explore.papers"
Explorers = Mapping[str, Callable[[Configuration], Explorer]]
EXPLORERS: Explorers = {
    name_target(paper, figure): explorer
    for paper in find_papers()
    if find_spec(f"{PAPERS}.{paper}")
    for figure, explorer in import_module(f"{PAPERS}.{paper}").FIGURES.items()
}
