"""equarx.contract()."""
from __future__ import annotations

import json
import pathlib
import tempfile

from . import _program
from ._arrays import tensors_of
from ._errors import InputError

# Storage types of .npy files: bf16 as uint16.
_FILES = {"fp32": "float32", "fp16": "float16", "bf16": "uint16"}


def contract(partial_sums, collectives, *, topology: dict, hardware: str = "h100", residual=None, quick: bool = True,
             dtype: str | None = None) -> list[dict]:
    """Contracts of collectives on these partial sums: one dict per collective, as `equarx-sim contract
    --json` prints it (docs/contract.md).

    partial_sums: an array with a leading axis of ranks, or one array per rank: float32, float16 or
        bfloat16 (as uint16 with dtype="bf16").
    collectives: list of dicts as in a configuration, like {"algorithm": "one-shot"}.
    topology: as in a configuration, like {"switch": 8}.
    residual: an array of the shape of one rank, for collectives whose arithmetic adds one.
    quick: leave out other sizes and fewer ranks.
    """
    import numpy
    tensors = tensors_of(partial_sums, dtype)
    if len(tensors) < 2:
        raise InputError("a contract needs the partial sums of at least two ranks")
    if tensors[0].dtype not in _FILES:
        raise InputError(f"partial sums are float32, float16 or bfloat16, not {tensors[0].dtype}")
    with tempfile.TemporaryDirectory(prefix="equarx-") as folder:

        def save(name, tensor):
            path = pathlib.Path(folder) / f"{name}.npy"
            numpy.save(path, tensor.bits.view(_FILES[tensor.dtype]).reshape(tensor.shape))
            return str(path)

        tensor = {"values": {"files": [save(rank, one) for rank, one in enumerate(tensors)]}}
        if residual is not None:
            tensor["residual"] = {"files": [save("residual", tensors_of([residual], dtype)[0])]}
        config = {"hardware": hardware, "topology": topology, "tensor": tensor, "collectives": collectives}
        arguments = ["contract", "-", "--json", *(["--quick"] if quick else [])]
        return json.loads(_program.command(arguments, json.dumps(config)))["collectives"]
