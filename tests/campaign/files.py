"""Files of a case, from their descriptions: text unchanged, objects as JSON, {"npy": ...} as
tensors."""
import json
import pathlib
import struct

import numpy

ELEMENTS = {"f4": "<f4", "f2": "<f2", "bf16": "<u2"}


def tensor(made: dict) -> numpy.ndarray:
    """Tensor of `shape`, `dtype` and `seed`; with `malformed`, some elements are NaN, Inf, huge or
    tiny; with `squared`, none is negative."""
    generator = numpy.random.default_rng(made["seed"])
    values = generator.standard_normal(made["shape"]).astype("<f4") * numpy.float32(made.get("factor", 1.0))
    if made.get("squared"):
        values **= 2
    if made.get("malformed"):
        flat = values.reshape(-1)
        flat[generator.integers(flat.size, size=3)] = generator.choice([numpy.inf, -numpy.inf, numpy.nan, 3e38, 1e-40],
                                                                       3)
    if made["dtype"] == "bf16":
        return (values.view("<u4") >> 16).astype("<u2")
    with numpy.errstate(over="ignore"):
        return values.astype(ELEMENTS[made["dtype"]])


def safetensors(made: dict) -> bytes:
    names = {"f4": "F32", "f2": "F16", "bf16": "BF16"}
    array = tensor(made)
    header = json.dumps({made.get("name", "w"): {"dtype": names[made["dtype"]], "shape": made["shape"],
                                                 "data_offsets": [0, array.nbytes]}}).encode()
    return struct.pack("<Q", len(header)) + header + array.tobytes()


def write(path: pathlib.Path, made: object) -> None:
    if isinstance(made, dict) and "npy" in made:
        numpy.save(path, tensor(made["npy"]))
    elif isinstance(made, dict) and "safetensors" in made:
        path.write_bytes(safetensors(made["safetensors"]))
    elif isinstance(made, str):
        path.write_text(made, encoding="utf-8")
    else:
        path.write_text(json.dumps(made), encoding="utf-8")
