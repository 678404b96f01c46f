"""Rebuild `data/embedded` from the raw files: `python -m localentropy.data.embed --mirror DIR`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from localentropy.data.embedded import PARTS, Entry, write_manifest
from localentropy.data.files import sha256_of
from localentropy.data.prepare import NAMES, RAW_DATASETS, build
from localentropy.data.prepared import Dataset, save
from localentropy.data.registry import DATA_DIR, MANIFEST, embedded_path, raw_files
from localentropy.data.selection import class_balanced
from localentropy.data.sources import read_raw
from localentropy.errors import DataError


def embedded_version(dataset: Dataset) -> Dataset:
    """What is embedded of a whole prepared dataset: all of it, or a class-balanced part.

    The part is chosen by the streams `embedded/<name>/train` and `embedded/<name>/test`.

    Args:
        dataset: a whole one.

    Returns:
        The same dataset or a part of it.

    Raises:
        DataError: a class has too few images.
    """
    if dataset.name not in PARTS:
        return dataset
    train_count, test_count = PARTS[dataset.name]
    train, test = (
        split.take(class_balanced(split.labels, count, f"embedded/{dataset.name}/{part}"))
        for part, split, count in (("train", dataset.train, train_count), ("test", dataset.test, test_count))
    )
    return Dataset(dataset.name, train, test)


def embed(mirror: Path, output_dir: Path = DATA_DIR) -> Iterator[str]:
    """Write every embedded set and their manifest.

    Args:
        mirror: directory with the raw files.
        output_dir: holds `embedded/`.

    Yields:
        One line for each.

    Raises:
        DataError: a raw file is missing or wrong, or the disk is full.
    """
    entries = {}
    for raw_name in dict.fromkeys(RAW_DATASETS.values()):
        raw, table = read_raw(raw_name, "mirror", mirror, DATA_DIR), raw_files(raw_name)
        parts = [row for row in table if row.archive]
        for name in (name for name in NAMES if RAW_DATASETS[name] == raw_name):
            dataset = embedded_version(build(name, raw))
            path = embedded_path(name, output_dir)
            save(dataset, path, compressed=True)
            size = path.stat().st_size
            entries[path.name] = Entry(
                sha256=sha256_of(path),
                bytes=size,
                content_sha256=dataset.content_sha256(),
                train=len(dataset.train),
                test=len(dataset.test),
                licence=table[0].licence,
                citation=table[0].citation,
                sources={row.file: row.sha256 for row in parts},
            )
            yield f"{path}: {size} bytes, {dataset.summary()}"
    write_manifest(output_dir / MANIFEST, entries)


def main() -> int:
    """The command line of this module.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m localentropy.data.embed", description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="directory with the raw files")
    mirror = parser.parse_args().mirror
    try:
        for line in embed(mirror):
            print(line)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
