"""Golden vectors of collectives: written, and compared with a kernel's results."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from ._arguments import answer, configuration, options, path
from .result import Record


def vectors(config, output: str | os.PathLike, overrides: Mapping | None = None, *,
            cases: Sequence[str] | None = None) -> Record:
    """Writes golden vectors of a configuration's collectives into a folder (docs/contract.md).

    output: a new folder, or one of earlier vectors. cases: only these, like ["ties", "largest"].
    Returns its manifest: ``ranks``, and ``collectives`` with their folders and cases.
    """
    named, text = configuration(config, overrides)
    arguments = ["vectors", *named, "-o", path(output, "output"), "--json", *options({"--cases": cases})]
    return Record(json.loads(answer(arguments, config, text)))


def check_vectors(vectors, results, *, collective: str | None = None, cases: list[str] | None = None) -> dict:
    """Compares a kernel's results with golden vectors of `equarx-sim vectors`, bit for bit (docs/contract.md).

    vectors: folder of the golden vectors.
    results: a folder with <collective>/<case>.safetensors (result, or result.rank0, result.rank1, ...) or .npy, or
        a dict of arrays by "<collective>/<case>"; bfloat16 as uint16. With one collective, the case alone suffices.
        An array with a leading axis of ranks has the results of all ranks.
    collective, cases: only these.

    Returns a dict: `agrees`, and for each collective its `cases` and `verdict`, a list of sentences.
    """
    from ._vectors import compare
    return compare(vectors, results, collective=collective, cases=cases)
