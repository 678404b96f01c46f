"""Linear students of a teacher of signs (glm, figures perceptron and hidden_manifold)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from localentropy.explore.explorer import Axes, Choice, Curve, Explorer, Points, Slider, call
from localentropy.explore.sweeps import activation
from localentropy.figures.drawing import COLORS
from localentropy.programs.empirical_risk import Student

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration

POINTS = 61
"""Odd: the peak at n = p is the middle of the axis."""
ERROR = r"generalization error $$\varepsilon_g$$"
LOSSES = get_args(Student.model_fields["loss"].annotation)
STRENGTHS = (1e-6, 100.0)


def hidden_manifold(configuration: Configuration, experiment: str, shipped: tuple[str, str] | None = None) -> Explorer:
    """Against samples per feature (figure hidden_manifold; that beside which gaussian_equivalence sets simulations).

    Args:
        configuration: of the page's start.
        experiment: `<paper>/<name>` of the program `empirical_risk`.
        shipped: panel of the figure's CSV, and pattern for its series, that are drawn in grey.
    """
    p: Any = configuration.experiments[experiment]
    student = next(each for each in p.students.values() if isinstance(each.regularization, float))

    def curves(**values: Any) -> list[Curve]:
        found = call("hidden_manifold.fit", samples_per_feature=Points(p.alphas, POINTS), **values)
        return [Curve("student", found, "generalization_error", color=COLORS[0])]

    return Explorer(
        (
            Slider("regularization", "λ", student.regularization, *STRENGTHS),
            Slider("inputs_per_feature", "d/p (inputs per feature)", p.features.inputs_per_feature, 0.01, 10.0),
            Choice("loss", "loss", student.loss, LOSSES),
            *activation(p.features),
        ),
        (Axes("samples per feature $$n/p$$", ERROR, x_log=True, y_range=(0.0, 0.55), shipped=shipped),),
        curves,
    )


def perceptron(configuration: Configuration) -> Explorer:
    """On the teacher's own inputs, beside the Bayes-optimal student (figure perceptron).

    The figure has the best λ at each load. Here λ is the same at all.
    """
    p: Any = configuration.experiments["glm/risk"]
    grid = Points(p.alphas, POINTS)

    def curves(**values: Any) -> list[Curve]:
        bayes = call("bayes.learning", alpha=grid, prior="gaussian", channel="sign")
        return [
            Curve("Bayes", bayes, "bayes_error", dash="dashed"),
            Curve("student", call("erm.fit", alpha=grid, **values), "generalization_error", color=COLORS[0]),
        ]

    return Explorer(
        (
            Slider("regularization", "λ", 1.0, *STRENGTHS),
            Choice("loss", "loss", next(iter(p.students.values())).loss, LOSSES),
        ),
        (Axes(r"$$\alpha = n/d$$", ERROR, x_log=True, y_log=True, shipped=("a", ".* loss")),),
        curves,
    )
