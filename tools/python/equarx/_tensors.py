"""The tensors of a run, from the files that it wrote."""
from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping

from ._errors import InputError


class Tensors(Mapping):
    """What ranks end with, as arrays by the label of the run: in the tensor's type, and its shape; of an AllToAll with a
    leading axis of ranks. bf16 and FP8, which NumPy does not have, are their bits, as uint16 and uint8.

    Arrays are mapped from files, so they take memory only where they are looked at. They can be read, and not written.
    """

    def __init__(self, results: dict, exact_sum, inputs: list):
        self._results = results
        #: The sum of all ranks' tensors in float64, which errors are against; None where nothing is summed.
        self.exact_sum = exact_sum
        #: What each rank begins with, if ``inputs`` was asked for.
        self.inputs = inputs

    def __getitem__(self, label: str):
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"Tensors({', '.join(self._results)})"


def read(paths: dict | None, labels: list[str]) -> Tensors | None:
    """The tensors in files, whose paths are those of an answer; None without any."""
    if paths is None:
        return None
    import numpy

    def mapped(path: str | None):
        return None if path is None else numpy.load(path, mmap_mode="r")

    results = {label: mapped(path) for label, path in zip(labels, paths["results"])}
    return Tensors(results, mapped(paths["exact_sum"]), [mapped(path) for path in paths["inputs"]])


@contextlib.contextmanager
def folder_for(tensors: bool | str | os.PathLike) -> Iterator[str]:
    """Where a run is to write its tensors: "" if nowhere. True is a folder that goes again; what is mapped stays."""
    if tensors is True:
        with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
            yield folder
    elif not tensors:
        yield ""
    elif not isinstance(tensors, (str, os.PathLike)) or os.fspath(tensors).endswith(".safetensors"):
        raise InputError(f"tensors: True, or a folder for .npy files, and not {tensors!r}")
    else:
        yield os.fspath(tensors)
