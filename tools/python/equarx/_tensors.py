"""The tensors of a run, from the files that it wrote."""
from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping

from ._errors import InputError


class Tensors(Mapping):
    """The ranks' results, as arrays by the label of the run: in the tensor's type and shape; for an
    AllToAll with a leading axis of ranks. bf16 and FP8, which NumPy lacks, are given as their bits,
    in uint16 and uint8.

    Arrays are mapped from files, so only accessed parts take memory. They are read-only.
    """

    def __init__(self, results: dict, exact_sum, inputs: list):
        self._results = results
        #: The sum of all ranks' tensors in float64, the reference of errors; None where nothing is
        #summed.
        self.exact_sum = exact_sum
        #: The input of each rank, if ``inputs`` was set.
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
    """The tensors in files, given the paths in a result; None without any."""
    if paths is None:
        return None
    import numpy

    def mapped(path: str | None):
        return None if path is None else numpy.load(path, mmap_mode="r")

    results = {label: mapped(path) for label, path in zip(labels, paths["results"])}
    return Tensors(results, mapped(paths["exact_sum"]), [mapped(path) for path in paths["inputs"]])


@contextlib.contextmanager
def folder_for(tensors: bool | str | os.PathLike) -> Iterator[str]:
    """Folder for the tensors of a run: "" for none. True makes a temporary folder; mapped files
    outlive it."""
    if tensors is True:
        with tempfile.TemporaryDirectory(prefix="equarx-") as folder:
            yield folder
    elif not tensors:
        yield ""
    elif not isinstance(tensors, (str, os.PathLike)) or os.fspath(tensors).endswith(".safetensors"):
        raise InputError(f"tensors: must be True or a folder for .npy files, not {tensors!r}")
    else:
        yield os.fspath(tensors)
