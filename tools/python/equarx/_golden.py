"""equarx.check_vectors()."""
from __future__ import annotations


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
