"""The words of `--config` pass through Snakemake whatever they are, and come out as they were written."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from snakemake.cli import parse_config

from snakemake_logger_plugin_localentropy import unwrapped, wrapped

ARGUMENTS = st.sampled_from(
    [
        *("--config", "-C", "-n", "--cores", "--", "figure3", "--config=a=1", "--config=", "-Ca=1", "-C=a", "-3"),
        *("franz_parisi.inv_alpha=1.5", "a={b: {c: 1}}", "a.b", "=", "=3", "#", "seed=#", "a={", "-x y=1", "-.5"),
        *("override_1=:a.b=1", "seed= ", "a='", 'a="b', "[" * 300, "set=a=1 b=2", "x: y", "? z", "&a", "*a", ""),
    ]
) | st.text(max_size=6)


def parse(arguments: list[str]) -> argparse.Namespace:
    """A command line, read as Snakemake reads it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--config", "-C", nargs="+", default=[])
    parser.add_argument("--cores")
    parser.add_argument("-n", action="store_true")
    return parser.parse_args(arguments)


@settings(deadline=None, max_examples=500)
@given(st.lists(ARGUMENTS, max_size=6))
def test_any_words_pass_and_come_out_as_they_were(arguments: list[str]) -> None:
    try:
        plain = parse(arguments)
    except SystemExit:
        assume(False)
    prepared = parse(wrapped(arguments))
    assert unwrapped(prepared.config) == unwrapped(plain.config)
    assert (prepared.targets, prepared.cores, prepared.n) == (plain.targets, plain.cores, plain.n)
    parse_config(prepared.config)
    assert wrapped(wrapped(arguments)) == wrapped(arguments)


def test_snakemake_alone_refuses_these_words() -> None:
    for word in ("franz_parisi.inv_alpha=1.5", "foo", "=3"):
        with pytest.raises(ValueError, match="Invalid config definition"):
            parse_config([word])
        parse_config(wrapped(["--config", word])[1:])
