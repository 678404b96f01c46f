"""The reader of the python version of CIFAR-10 takes its batches and nothing else, and runs nothing."""

from __future__ import annotations

import io
import os
import pickle
import pickletools

import numpy as np
import pytest

from localentropy.data.cifar_pickle import records_of_pickle

ROWS = np.random.default_rng(0).integers(0, 10, (7, 3073), dtype=np.uint8)
RECORDS = ROWS.tobytes()


@pytest.mark.parametrize("numpy", ["numpy.core", "numpy._core"])
@pytest.mark.parametrize("python", [2, 3])
def test_batches_of_both_pythons_and_both_numpys(python_batch, numpy, python):
    content = python_batch(RECORDS, numpy, python)
    assert f"{numpy}.multiarray".encode() in content
    assert (b"_codecs" in content) == (python == 3)
    assert records_of_pickle(content, "data_batch_1") == RECORDS
    assert pickle.loads(content, encoding="bytes")[b"labels"] == ROWS[:, 0].tolist()  # it is a pickle


class Evil:
    def __reduce__(self):
        return os.abort, ()  # which would end the tests


LABELS, DATA = ROWS[:, 0].tolist(), ROWS[:, 1:].copy()
GOOD = {b"labels": LABELS, b"data": DATA}
WRONG = {
    "a call": (Evil(), "name 'posix abort'"),
    "a call inside": (GOOD | {b"filenames": [Evil()]}, "name 'posix abort'"),
    "another name": (GOOD | {b"batch_label": io.BytesIO}, "name '_io BytesIO'"),
    "another key": (GOOD | {b"more": 1}, "keys"),
    "no labels": ({b"data": DATA}, "labels"),
    "no data": ({b"labels": LABELS}, "data"),
    "data that are a list": (GOOD | {b"data": [1]}, "values"),
    "fewer labels": (GOOD | {b"labels": LABELS[:-1]}, "shape (7, 3072)"),
    "a wider image": (GOOD | {b"data": ROWS}, "shape (7, 3073)"),
    "another type": (GOOD | {b"data": DATA.astype(np.int16)}, "call of 'numpy dtype'"),
    "columns": (GOOD | {b"data": np.asfortranarray(DATA)}, "bytes in rows"),
    "objects": (GOOD | {b"data": np.array([None])}, "call of 'numpy dtype'"),
    "a large label": (GOOD | {b"labels": [*LABELS[:-1], 256]}, "256"),
    "a real label": (GOOD | {b"labels": [*LABELS[:-1], 0.5]}, "BINFLOAT"),
    "a list": ([1, 2], "a list"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_other_pickles_are_refused_in_one_line(refused, kind):
    value, text = WRONG[kind]
    with refused("data_batch_1: not a batch of the python version of CIFAR-10", text):
        records_of_pickle(pickle.dumps(value, 2), "data_batch_1")


@pytest.mark.parametrize("protocol", [0, 1, 3, 4, 5])
def test_other_protocols_are_refused(refused, protocol):
    with refused("data_batch_1", "instruction" if protocol < 2 else "protocol"):
        records_of_pickle(pickle.dumps(GOOD, protocol), "data_batch_1")


def test_damaged_pickles_are_refused_in_one_line(python_batch, refused):
    content = python_batch(RECORDS)
    places = [position or 0 for _, _, position in pickletools.genops(content)]
    for end in [0, 1, *places[1:40], *places[-40:], len(content) - 1]:
        with refused("data_batch_1"):
            records_of_pickle(content[:end], "data_batch_1")
    with refused("data_batch_1", "1 bytes after it"):
        records_of_pickle(content + b"x", "data_batch_1")
    for place in [*places[:60], *places[-60:]]:
        for code in b"(.0aRbu\x85\x86\x87qhc":
            spoiled = content[:place] + bytes([code]) + content[place + 1 :]
            try:
                assert records_of_pickle(spoiled, "data_batch_1") == RECORDS
            except Exception as error:
                assert type(error).__name__ == "DataError" and "\n" not in str(error), error
