"""A paper is a folder: one is added to a checkout and removed again, and no file outside its folders changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from tests.pipeline.conftest import Checkout

FILES = {
    "config/sketch/figures.yaml": """
figure1:
  shows: errors of a sketch beside squares of the main paper
  experiments: [sketch/limit, overparam/toy_a]
""",
    "config/sketch/physics.yaml": """
limit:
  program: sweep
  ask: overparameterized_limit
  ensemble: {model: random_features, activation: sign}
  over: {margin: [0.0], alpha_T: {from: 1.0, to: 3.0}}
""",
    "config/sketch/sizes.yaml": "limit: {points: [2, 3, 4]}\n",
    "src/localentropy/plots/sketch/figure1.py": '''
"""A figure of two papers' tables."""

from localentropy.plots.drawing import Drawing, panels


def draw(tables, scale):
    figure, (axis,) = panels(1, 3.0, 2.0)
    limit, squares = tables["sketch/limit"], tables["overparam/toy_a"]
    axis.line(limit["alpha_T"], limit["error_typical"], "limit")
    axis.line(squares["x"], squares["y"], "squares")
    return Drawing(figure, f"a sketch at scale {scale}")
''',
}
"""All of a small paper: its configuration, and the drawing of its figure."""

MADE = ("results/", "figures/smoke", "logs/", ".snakemake/")


def sources(checkout: Checkout) -> dict[str, bytes]:
    """Every file that is not made by a run."""
    kept = {name: text for name, text in checkout.contents("**/*").items() if "__pycache__" not in name}
    return {name: text for name, text in kept.items() if not name.startswith(MADE)}


def test_a_paper_is_added_and_removed_without_touching_any_other_file(toys: Checkout) -> None:
    before = sources(toys)
    for name, text in FILES.items():
        file = toys.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    run = toys.snakemake("sketch_figure1", "--config", "scale=smoke", "run=two", "sketch.limit.over.alpha_T.from=2.0")
    assert run.status == 0, run.output
    assert {"computing sketch/limit, part 1 of 1", "drawing sketch_figure1"} <= run.did
    data = pd.read_csv(toys.folder / "figures/smoke-two/sketch/figure1.csv")
    assert data.loc[data["series"] == "limit", "x"].tolist() == [2.0, 3.0]
    assert data.loc[data["series"] == "squares", "y"].tolist() == [1.0, 4.0, 9.0]
    assert toys.snakemake("all", "--config", "scale=smoke").did > {"drawing sketch_figure1", "drawing figure91"}
    assert toys.python("verify", "--scale", "smoke").status == 0
    assert sources(toys) == before | {name: text.encode() for name, text in FILES.items()}

    for folder in {Path(name).parent for name in FILES}:
        shutil.rmtree(toys.folder / folder)
    assert sources(toys) == before
    assert toys.snakemake("all", "--config", "scale=smoke").did == set()
    refused = toys.snakemake("sketch_figure1", "--config", "scale=smoke")
    assert refused.status == 1 and "sketch_figure1: no such target; did you mean 'figure9" in refused.output
