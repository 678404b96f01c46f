"""A plugin of Snakemake that lets `--config` take any words: `snakemake figure3 --config franz_parisi.inv_alpha=1.5`.

Snakemake reads these words before it reads the Snakefile. It ends with a traceback if a key has a dot, or a word is no
`key=value`. It imports its plugins earlier, and nothing else of a workflow. So this plugin prepares the words: each
gets a key that Snakemake takes. The Snakefile takes this key off again (`localentropy.pipeline.workflow`), reads the
words as the commands of `localentropy` do, and refuses a wrong one in one line.

Snakemake reads the files of `--configfile` then too, and ends with a traceback for one that is missing or no text. Here
they are read first, as the commands of `localentropy` read them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from logging import LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase

_KEY = re.compile(r"override_\d+=:")


class LogHandler(LogHandlerBase):
    """The class that each plugin of this kind must have. It writes nothing, not even after `--logger localentropy`."""

    writes_to_stream = writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def emit(self, record: LogRecord) -> None:
        """Write nothing."""


def wrapped(arguments: Iterable[str]) -> list[str]:
    """A command line of Snakemake in which each word of `--config` is the text behind a key of its own.

    A word belongs to the option up to the next option, by the rules of `argparse`: a number is no option.
    """
    words: list[str] = []
    inside = False
    given = list(arguments)
    end = given.index("--") if "--" in given else len(given)
    for argument in given[:end]:
        option, equals, value = argument.partition("=")
        if option.startswith("-C") and option != "-C":
            option, equals, value = "-C", "=", argument[2:]
        if option in ("--config", "-C"):
            words.append(f"--config={_with_key(value, len(words))}" if equals else option)
            inside = not equals
        elif re.match(r"-[^ ]", argument) and " " not in argument and not re.fullmatch(r"-\d+|-\d*\.\d+", argument):
            words.append(argument)
            inside = False
        else:
            words.append(_with_key(argument, len(words)) if inside else argument)
    return words + given[end:]


def unwrapped(words: Iterable[str]) -> list[str]:
    """The words of `--config` as they were written."""
    return [_KEY.sub("", word, count=1) if _KEY.match(word) else word for word in words]


def require_files(arguments: Iterable[str]) -> None:
    """End with one line for a file of `--configfile` that is no configuration."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", type=Path, default=[])
    files = parser.parse_known_args(list(arguments))[0].configfile
    if not files:
        return
    # As the Snakefile does it later. Only here: the modules are many, and Snakemake imports its plugins at each start.
    sys.path.insert(0, str(Path("src").resolve()))
    from localentropy import environment

    environment.adopt_for_jobs()
    from localentropy.errors import LocalEntropyError
    from localentropy.pipeline.allowed import printable
    from localentropy.pipeline.config import read_yaml

    try:
        for file in files:
            read_yaml(file)
    except LocalEntropyError as error:
        sys.exit(f"error: {printable(str(error))}")


def _with_key(word: str, number: int) -> str:
    return word if _KEY.match(word) else f"override_{number}=:{word}"


# Only where Snakemake itself was started, and in a checkout of this project.
if "snakemake" in Path(sys.argv[0]).parts[-2:] and Path("src", __name__).is_dir():
    sys.argv[1:] = wrapped(sys.argv[1:])
    require_files(sys.argv[1:])
