"""A paper is a few folders: one is added to a checkout and removed again, and no file outside its folders changes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests import progress
from tests.pipeline.conftest import ROOT, Checkout

pytestmark = pytest.mark.pipeline

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
    "config/sketch/claims.yaml": """
K01:
  claim: Errors fall with the number of patterns per latent dimension.
  source: Section I
  kind: paper
  test: sketch.limit.errors_fall
  experiments: [sketch/limit]
""",
    "src/localentropy/claims/sketch/limit.py": '''
"""Claims about the limit."""

from localentropy.claims.conditions import all_of, falls, require


def errors_fall(limit):
    require(len(limit) > 1, "one load")
    return all_of(falls("error", limit["error_typical"], along="α_T"))
''',
    "tests/claims/sketch/tables.py": '''
"""Tables on which the claims of the sketch hold."""

import pandas as pd


def limit():
    return pd.DataFrame({"alpha_T": [1.0, 2.0, 3.0], "error_typical": [0.3, 0.2, 0.1]})
''',
    "src/localentropy/explore/papers/sketch.py": '''
"""The figure of the sketch that can be explored."""

from localentropy.explore.explorer import Curve, Explorer, Points, Axes, Slider, call, of


def errors(configuration):
    to = configuration.experiments["sketch/limit"].over.alpha_T.to

    def curves(margin):
        model = of("RandomFeatures", alpha_T=Points((1.0, to), 5), margin=margin)
        return [Curve("typical", call("overparameterized_limit", model), "error_typical")]

    return Explorer((Slider("margin", "κ", 0.0, 0.0, 0.5, 0.1),), (Axes("α_T", "error"),), curves)


FIGURES = {"figure1": errors}
''',
    "docs/sketch/gallery.md": """
<!-- figure1 --><!-- /figure1 -->
<!-- scorecard --><!-- /scorecard -->
""",
    "src/localentropy/figures/sketch/figure1.py": '''
"""A figure of two papers' tables."""

from localentropy.figures.drawing import Drawing, panels


def draw(tables, scale):
    figure, (axis,) = panels(1, 3.0, 2.0)
    limit, squares = tables["sketch/limit"], tables["overparam/toy_a"]
    axis.line(limit["alpha_T"], limit["error_typical"], "limit")
    axis.line(squares["x"], squares["y"], "squares")
    return Drawing(figure, f"a sketch at scale {scale}")
''',
}
"""All of a small paper: its configuration, and the drawing of its figure."""
EXPLORED = """
from localentropy.explore.catalogue import EXPLORERS
from localentropy.pipeline.config import resolve

(curve,) = EXPLORERS["sketch_figure1"](resolve("smoke")).curves(margin=0.0)
print(*curve.values(curve.call.solve(0)))
"""
"""A script that prints what the explorer draws at its start."""
MADE = ("results/", "figures/", "logs/", ".snakemake/", "tests/golden/", "docs/sketch/gallery.md")


def sources(checkout: Checkout) -> dict[str, bytes]:
    """Every file that is not made by a command."""
    kept = {name: text for name, text in checkout.contents("**/*").items() if "__pycache__" not in name}
    return {name: text for name, text in kept.items() if not name.startswith(MADE)}


def python(checkout: Checkout, *arguments: str) -> str:
    """What Python prints with the checkout's own library."""
    environment = {"PYTHONPATH": str(checkout.folder / "src"), "PATH": "/usr/bin:/bin"}
    done = progress.run([sys.executable, *arguments], cwd=checkout.folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_paper_is_added_and_removed_without_touching_any_other_file(toys: Checkout) -> None:
    shutil.copytree(ROOT / "tests/claims", toys.folder / "tests/claims", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests/__init__.py", toys.folder / "tests")
    before = sources(toys)
    for name, text in FILES.items():
        file = toys.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run = toys.snakemake("sketch_figure1", "--config", "scale=smoke", "run=two", "sketch.limit.over.alpha_T.from=2.0")
    assert run.status == 0, run.output
    assert {"computing sketch/limit, part 1 of 1", "drawing sketch_figure1"} <= run.did
    data = pd.read_csv(toys.folder / "figures/smoke-two/sketch/figure1.csv")
    assert data.loc[data["series"] == "limit", "x"].tolist() == [2.0, 3.0]
    assert data.loc[data["series"] == "squares", "y"].tolist() == [1.0, 4.0, 9.0]

    assert toys.snakemake("all", "scorecard", "--config", "scale=smoke").did > {"testing the claims of sketch"}
    card = pd.read_csv(toys.folder / "figures/smoke/sketch/scorecard.csv")
    assert card[["id", "verdict"]].to_numpy().tolist() == [["K01", "reproduced"]]
    assert toys.python("verify", "--scale", "smoke").status == 0
    golden = toys.python("golden").output.split()
    assert {"tests/golden/sketch/figure1.csv", "tests/golden/sketch/verdicts.csv"} <= set(golden)
    assert toys.python("diff", "tests/golden", "figures/smoke").status == 0

    assert toys.snakemake("sketch_figure1").status == 0
    shown = toys.python("gallery", "sketch_figure1")
    assert "figures/gallery/sketch/figure1.png" in shown.output.split()
    assert "a sketch at scale default" in (toys.folder / "docs/sketch/gallery.md").read_text()
    assert toys.python("explore").output.split()[0] == "sketch_figure1"
    drawn = [float(error) for error in python(toys, "-c", EXPLORED).split()]
    assert len(drawn) == 5 and drawn == sorted(drawn, reverse=True)
    alone = ("-v", "-p", "no:cacheprovider", "-k", "K01")
    tested = python(toys, "-m", "pytest", *alone, "tests/claims/test_conditions.py")
    assert tested.count("[K01] PASSED") == 6
    assert sources(toys) == before | {name: text.encode() for name, text in FILES.items() if not name.startswith(MADE)}

    for folder in {Path(name).parent for name in FILES} - {Path("src/localentropy/explore/papers")}:
        shutil.rmtree(toys.folder / folder)
    (toys.folder / "src/localentropy/explore/papers/sketch.py").unlink()
    assert sources(toys) == before
    assert toys.snakemake("all", "--config", "scale=smoke").did == set()
    refused = toys.snakemake("sketch_figure1", "--config", "scale=smoke")
    assert refused.status == 1 and "sketch_figure1: no such target; did you mean 'figure9" in refused.output
