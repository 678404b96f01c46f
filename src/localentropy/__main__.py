"""`localentropy`, or `python -m localentropy`. The library alone has no commands, and says so in one line."""

from __future__ import annotations

import sys

from localentropy import __version__, environment
from localentropy.pipeline.machine import MachineError, open_closed_streams, output, refusals


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        _tell_version()
        return
    environment.restart()
    try:
        from localentropy.commands.cli import main as run

        run()
    except KeyboardInterrupt:  # Ctrl-C while a job of the pipeline starts
        sys.exit(130)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "localentropy":
            raise
        sys.exit(
            f"error: no package {package}: the commands work in a checkout of the repository after `make setup`; "
            "an installed library alone has none"
        )


def _tell_version() -> None:
    open_closed_streams()
    try:
        with refusals(), output():
            print(f"localentropy {__version__}")
    except MachineError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
