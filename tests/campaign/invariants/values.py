"""Values: compared with the sum of the inputs, and unaffected by other keys."""
import copy
import pathlib

import numpy

from desk import Desk
from invariants.bytes import elements_of
from invariants.results import expect

PRECISION = {"fp32": 2.0**-24, "bf16": 2.0**-8, "fp16": 2.0**-11}


MOST_ELEMENTS = 200_000  # of a tensor whose values are computed: one per rank


def computed(content: dict) -> dict | None:
    """The configuration with values; None if there are too many."""
    config = copy.deepcopy(content["config"]) | {"numerics": "on"}
    config.pop("uncertainty", None)
    tensor = {"dtype": "bf16"} | config.get("tensor", {})
    return None if (elements_of(tensor) or 0) > MOST_ELEMENTS else config


def numerics(result: dict | None) -> list[dict | None]:
    return [] if result is None else [run["numerics"] for run in result["runs"]]


def clockless(desk: Desk, content: dict, draw) -> None:
    """Values do not depend on time: neither on the engine, nor on the number of simulated chips,
    nor on the chip."""
    config = computed(content)
    if config is None or any(one["algorithm"] == "auto" or not {"minishards", "microshards"} <= one.keys() or one["algorithm"] in
           ("torus", "hierarchical") for one in config["collectives"]):
        return  # algorithm and tiling may depend on the chip
    key, value = draw.choice([("engine", "direct"), ("simulation", "full"), ("hardware", "tpu-v5p")])
    if key == "hardware" and ("slice" in config["topology"] or "workload" in config
                              or config.get("wire_buffers") == "vmem"):
        return
    before, after = desk.result(config), desk.result(config | {key: value})
    if before is None or after is None:
        return
    expect(numerics(before) == numerics(after), "clockless values", f"{key} {value} changes them")


def read(path: pathlib.Path, dtype: str) -> numpy.ndarray:
    """float64"""
    array = numpy.load(path)
    if dtype == "bf16":
        array = (array.astype("<u4") << 16).view("<f4")
    return array.astype("f8")


def sums(desk: Desk, content: dict, draw) -> None:
    """Compared with the recomputed sum of the inputs: the exact sum, and the largest possible
    deviation of results."""
    config = computed(content)
    if config is None or "workload" in config or config.get("collective", "all-reduce") not in ("all-reduce", "reduce-scatter"):
        return
    config["tensor"].pop("sample", None)
    folder = f"tensors{draw.randrange(1000)}"
    result = desk.result(config, "--output-tensors", folder, "--output-inputs")
    if result is None:
        return
    dtype = result["config"]["tensor"]["dtype"]
    if dtype not in PRECISION:
        return
    where = desk.folder / folder
    inputs = numpy.stack([read(where / f"input_{i}.npy", dtype) for i in range(result["runs"][0]["chips"])])
    if not numpy.isfinite(inputs).all():
        return
    exact = numpy.load(where / "exact_sum.npy")
    summed = inputs.sum(axis=0)
    expect(numpy.allclose(exact, summed, rtol=1e-12, atol=1e-12 * numpy.abs(inputs).sum(axis=0).max()), "exact sum",
           "is not the sum of the inputs")
    for run, one in zip(result["runs"], result["config"]["collectives"]):
        of_run(run, one, read(where / f"{file_name(run['label'])}.npy", dtype), exact, inputs, dtype)


def file_name(label: str) -> str:
    encoded = label.encode()
    return "".join(chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-_.+") else "_"
                   for byte in encoded)


def of_run(run: dict, one: dict, values: numpy.ndarray, exact: numpy.ndarray, inputs: numpy.ndarray,
           dtype: str) -> None:
    found = run["numerics"]
    difference = values - exact
    if numpy.isfinite(values).all():
        mse = float(numpy.mean(difference**2))
        expect(found["mse"] is not None and abs(mse - found["mse"]) <= 1e-6 * mse + 1e-300, "mse",
               f"{run['label']}: reports {found['mse']}, but its tensor has {mse}")
        largest = float(numpy.abs(difference).max())
        expect(abs(largest - found["max_abs_error"]) <= 1e-9 * largest, "largest error",
               f"{run['label']}: reports {found['max_abs_error']}, but its tensor has {largest}")
    bound = error_bound(one, inputs, dtype)
    if bound is not None:
        worst = float(numpy.max(numpy.abs(difference) - bound))
        expect(worst <= 0.0, "error bound", f"{run['label']}: an error is {worst} beyond what its format allows")


def error_bound(one: dict, inputs: numpy.ndarray, dtype: str) -> numpy.ndarray | None:
    """Per element: each of at most N + 2 roundings is off by up to half a step of the largest
    possible sum."""
    ranks = len(inputs)
    if "cast_to" in one or one.get("hadamard") or one.get("rounding") == "stochastic" or "between" in one:
        return None
    magnitude = numpy.abs(inputs).sum(axis=0)
    name = one.get("format", dtype)
    own = (ranks + 3) * PRECISION[dtype] * magnitude * 1.1 + 1e-30
    if dtype == "fp16" or name == "fp16":
        return None  # sums may overflow
    if name in PRECISION:
        return own + (ranks + 3) * PRECISION[name] * magnitude * 1.1
    if name == "int8" and one.get("scale", "fp32") == "fp32":
        return own + (ranks + 3) * magnitude.max() / 254.0 * 1.1
    return None


def moved(desk: Desk, content: dict, _draw) -> None:
    """Values that are only moved, in their own type, are moved without error."""
    config = computed(content)
    if config is None or config.get("collective") not in ("all-gather", "all-to-all", "broadcast"):
        return
    result = desk.result(config)
    if result is None:
        return
    dtype = result["config"]["tensor"]["dtype"]
    for run, one in zip(result["runs"], result["config"]["collectives"]):
        found = run["numerics"]
        # another type in between rounds the values
        between = one.get("between", {}).get("format", dtype)
        if between != dtype or "scale" in one or "cast_to" in one or one.get("format", dtype) != dtype or found["mse"] is None:
            continue
        expect(found["mse"] == 0.0, "moved", f"{run['label']}: mse {found['mse']} of values that are only moved")


def alike(one: dict, other: dict) -> bool:
    """Apart from the order in which squares are summed, which depends on the parts."""
    return all(one[key] == other[key] if not isinstance(one[key], float) or other[key] is None else
               abs(one[key] - other[key]) <= 1e-12 * max(1.0, abs(one[key])) for key in one)


def microshards(desk: Desk, content: dict, draw) -> None:
    """The number of microshards changes no value, except with stochastic rounding or rotation in
    parts."""
    config = computed(content)
    if config is None:
        return
    one = config["collectives"][0]
    text = str(one)
    if one["algorithm"] in ("auto", "torus", "hierarchical", "quickreduce"):
        return
    if any(name in text for name in ("stochastic", "sdp4bit", "qsgd", "hadamard")):
        return
    config["collectives"] = [one]
    config.pop("baseline", None)
    config.get("tensor", {}).pop("sample", None)  # sampling selects whole parts
    before: list = []
    for count in (1, draw.randint(2, 5)):
        one |= {"minishards": 1, "microshards": count}
        for key in ("cuts", "elements_per_scale"):
            one.pop(key, None)
        found = numerics(desk.result(copy.deepcopy(config)))
        expect(not found or not before or alike(before[0], found[0]), "microshards",
               f"{count} microshards instead of 1 change values: {before} {found}")
        before = found
