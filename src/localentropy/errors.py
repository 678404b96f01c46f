"""The errors that a user can cause or must hear of: each prints as one line, without a traceback."""

from __future__ import annotations

from collections.abc import Mapping


class LocalEntropyError(Exception):
    """Base of every error whose message is written for the user."""


class ConfigError(LocalEntropyError):
    """A wrong key or value in a configuration file or override."""


class DataError(LocalEntropyError):
    """A data file that is missing, truncated, altered, or not what it claims to be."""


class ArtifactError(LocalEntropyError):
    """A result or figure file that is corrupt, or was made from other code or parameters."""


class DomainError(LocalEntropyError, ValueError):
    """An argument outside the range in which the quantity is defined."""


class MissingPackageError(LocalEntropyError, ImportError):
    """A module that needs a package of an extra, which is not installed."""


class ConvergenceError(LocalEntropyError, ArithmeticError):
    """A solve that did not reach its tolerance.

    Attributes:
        point: the control parameters and unknowns at which it stopped.
        residual: how far from a solution it was: the last correction of an unknown in its scale, or a violation.
    """

    def __init__(self, what: str, point: Mapping[str, float], residual: float) -> None:
        where = ", ".join(f"{name}={value:.6g}" for name, value in point.items())
        super().__init__(f"{what} did not converge at {where} (residual {residual:.3g})")
        self.point = dict(point)
        self.residual = residual


class EndOfCurveError(ConvergenceError):
    """A curve that was followed from one distance to another and ends between them, at the distance of its point.

    Attributes:
        why: what may have ended it; empty if nothing is known.
    """

    def __init__(self, what: str, point: Mapping[str, float], residual: float, why: str = "") -> None:
        super().__init__(f"{what}{why}", point, residual)
        self.why = why

    def asked(self, question: str, distance: float) -> EndOfCurveError:
        """This error in the words of a question at a distance that was asked for."""
        end = self.point["distance"]
        side = "larger" if end > distance else "smaller"
        error = EndOfCurveError(question, self.point, self.residual, self.why)
        error.args = (
            f"{question}: no solution at distance = {distance:.6g}: followed from {side} distances, the curve"
            f"{self.why} ends at {end:.6g} (residual {self.residual:.3g}); unsolved='nan' gives NaN there",
        )
        return error


def first_line(error: BaseException) -> str:
    """The first line of another library's message; the error's name if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
