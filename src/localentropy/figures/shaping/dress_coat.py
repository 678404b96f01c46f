"""Panels of the two figures on images: local entropies, and a rate of errors of each run against its curvature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.statistics import spearman_over_sets
from localentropy.errors import DomainError
from localentropy.figures.algorithms import legend_entries, of_committees, of_each
from localentropy.figures.drawing import letter, panels, span
from localentropy.figures.shaping.local_entropies import counts, draw_entropies, entropy_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localentropy.figures.series import Panel, Picture


def draw_panels(local_entropy: pd.DataFrame, runs: pd.DataFrame, rate: str) -> tuple[Picture, Sequence[Panel]]:
    """(a) Mean local entropies; (b) a point for each run, its rate of errors against its largest eigenvalue.

    Args:
        local_entropy: table of the program of this name.
        runs: of `with_curvature`, columns algorithm, sample, largest_eigenvalue, rate.
        rate: label of the axis of rates.
    """
    figure, axes = panels(2, 7.0, 3.1)
    points = entropy_points(local_entropy)
    rows = figure.add(points, series=points["algorithm"], x=points["distance"])
    draw_entropies(axes[0], points, rows)
    rates = runs.assign(x=runs["largest_eigenvalue"], y=runs["rate"], y_err=0.0)
    rows = figure.add(rates, series=runs["algorithm"])
    for look, own, at in of_each(rates, rows):
        axes[1].line(own["x"], own["y"], at, {**look, "markersize": 3, "alpha": 0.8, "linestyle": "none"})
    axes[1].set(xscale="log", xlabel=r"largest eigenvalue $\lambda_{\max}$ of the Hessian", ylabel=rate)
    axes[0].legend(*legend_entries(axes))
    letter(axes)
    return figure, axes


def with_curvature(rates: pd.Series, spectra: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Runs with their largest eigenvalue.

    Args:
        rates: rate of errors of each solved run, by algorithm and sample.
        spectra: table of the program `committee_spectra`.
        rule: that of β.

    Returns:
        Columns algorithm, sample, beta, largest_eigenvalue, rate.
    """
    largest = spectra[(spectra["quantity"] == "largest_eigenvalue") & (spectra["rule"] == rule)]
    columns = of_committees(largest)[["algorithm", "sample", "beta", "value"]].rename(
        columns={"value": "largest_eigenvalue"}
    )
    return columns.merge(rates.rename("rate").reset_index(), on=["algorithm", "sample"])


def correlations(rates: pd.Series, spectra: pd.DataFrame) -> str:
    """The words on β and the rank correlation of eigenvalue and rate over all runs."""
    paper, ours = (with_curvature(rates, spectra, rule) for rule in ("paper", "all"))
    return (
        f"at {_beta(paper)}, the paper's. Spearman's rank correlation: {_correlation(paper)}; "
        f"at {_beta(ours)}, the smallest of a grid at which all our solutions stay valid, {_correlation(ours)}"
    )


def _beta(runs: pd.DataFrame) -> str:
    return f"β = {runs['beta'].max():.3g}" if len(runs) else "β"


def _correlation(runs: pd.DataFrame) -> str:
    if (runs[["largest_eigenvalue", "rate"]].nunique() == 1).any():
        return "not defined, all runs have the same value"
    try:
        rho, error = spearman_over_sets(runs["largest_eigenvalue"], runs["rate"], runs["sample"])
    except DomainError:
        return "too few runs"
    return f"{rho:.2f} ± {error:.2f} ({len(runs)} runs)"


def machine_and_runs(local_entropy: pd.DataFrame, solutions: pd.DataFrame) -> dict[str, str]:
    """The settings on the machine, its data and its runs."""
    return {
        "model": f"fully connected committee of K = {local_entropy['units'].iloc[0]} units, {solutions['P'].iloc[0]} binary "
        "images of dresses and coats of Fashion-MNIST",
        "runs": f"one of each algorithm on each of {solutions['sample'].nunique()} training sets, half dresses and half coats; "
        f"dresses are few, so two sets share most of them; solved: {counts(solutions)}",
    }


def fewer_runs(solutions: pd.DataFrame, scale: str) -> dict[str, str]:
    """The setting on a size below the paper's 50 runs."""
    runs = span(solutions.groupby("algorithm").size())
    size = f"below the paper's size, 50 runs of each (here {runs})"
    return {} if scale == "paper" else {f"scale {scale}": size}
