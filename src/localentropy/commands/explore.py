"""`python -m localentropy explore`: a page whose controls are a figure's parameters, or the list of such figures."""

from __future__ import annotations

from collections.abc import Sequence

from localentropy.errors import ConfigError, LocalEntropyError
from localentropy.pipeline.config import bare_target, find_target, read_figures


def names() -> dict[str, str]:
    """The figures that can be explored, and what they show."""
    from localentropy.explore.catalogue import EXPLORERS

    figures = read_figures()
    return {target: figures[target].shows for target in EXPLORERS}


def explore(figure: str, port: int, browser: bool, allow: Sequence[str]) -> None:
    """Show the page of a figure until Ctrl-C.

    Raises:
        ConfigError: the figure has no page.
        LocalEntropyError: Bokeh is missing, the port is taken, or a word of `allow` is no name.
    """
    if (target := bare_target(figure)) in read_figures() and target not in names():
        raise ConfigError(
            f"{figure}: this figure has no page, as there is no theory in it; allowed: {', '.join(names())}"
        )
    figure = find_target(figure, names(), "figure to explore")
    try:
        from localentropy.explore.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "bokeh":
            raise
        raise LocalEntropyError(
            "no package bokeh: explore needs it; run `make setup`, or pip install -e '.[pipeline,explore]'"
        ) from None
    serve(figure, port, browser, allow)
