"""Compares results of a kernel with golden vectors (docs/contract.md). Needs NumPy only; also runs as a script."""
from __future__ import annotations

import argparse
import functools
import itertools
import json
import pathlib
import sys
import typing

import numpy

try:
    from ._errors import InputError
except ImportError:  # as a script

    class InputError(ValueError):  # type: ignore[no-redef]
        """Invalid input: one sentence with the place and the remedy."""


_TYPES = {"F64": ("fp64", "u8"), "F32": ("fp32", "u4"), "F16": ("fp16", "u2"), "BF16": ("bf16", "u2"),
          "F8_E4M3": ("fp8-e4m3", "u1"), "F8_E5M2": ("fp8-e5m2", "u1")}
_BITS = dict(_TYPES.values())
_ARRAYS = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "uint16", "fp8-e4m3": "uint8",
           "fp8-e5m2": "uint8"}
_SMALLEST_NORMAL = {"fp32": 2.0**-126, "bf16": 2.0**-126, "fp16": 2.0**-14}
_LARGEST = {"bf16": float.fromhex("0x1.fep127"), "fp16": 65504.0}


class Tensor(typing.NamedTuple):
    """Elements of a type by their bits."""
    dtype: str
    bits: numpy.ndarray

    def values(self) -> numpy.ndarray:
        if self.dtype == "bf16":
            return (self.bits.astype(numpy.uint32) << 16).view(numpy.float32)
        if self.dtype == "fp8-e5m2":
            return (self.bits.astype(numpy.uint16) << 8).view(numpy.float16).astype(numpy.float32)
        if self.dtype == "fp8-e4m3":
            return _e4m3_values(self.bits)
        return self.bits.view(_ARRAYS[self.dtype])


def _e4m3_values(bits):
    exponent, fraction = (bits >> 3) & 15, (bits & 7).astype(numpy.float32)
    sizes = numpy.where(exponent == 0, fraction * 2.0**-9,
                        (8 + fraction) * numpy.exp2(exponent.astype(numpy.float32) - 10))
    sizes = numpy.where((bits & 127) == 127, numpy.nan, sizes)
    return numpy.where(bits >> 7 == 1, -sizes, sizes).astype(numpy.float32)


def read_safetensors(path) -> dict[str, Tensor]:
    """Tensors of a .safetensors file by name."""
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:8 + size])
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            if entry["dtype"] not in _TYPES:
                raise InputError(f"{path}: {name} is {entry['dtype']}; store it as one of {', '.join(_TYPES)}")
            dtype, bits = _TYPES[entry["dtype"]]
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = Tensor(dtype, numpy.frombuffer(data[begin:end], "<" + bits).reshape(entry["shape"]))
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is not a .safetensors file") from error
    return tensors


def _of_array(array, dtype, where) -> Tensor:
    array = numpy.asarray(array)
    if array.dtype != _ARRAYS[dtype]:
        raise InputError(f"{where}: is {array.dtype}; results of {dtype} are {_ARRAYS[dtype]}")
    return Tensor(dtype, numpy.ascontiguousarray(array).view(_BITS[dtype]))


class _Case:
    """A case of one collective, and the golden tensors."""

    def __init__(self, folder, manifest, collective, entry):
        self.name, self.key = entry["name"], f"{collective['folder']}/{entry['name']}"
        self.dtype, self.ranks, self.elements = manifest["dtype"], manifest["ranks"], entry["shape"][0]
        self.scatters = manifest["collective"] == "reduce-scatter"
        self.entries = entry["tensors"]
        self.tensors = read_safetensors(folder / entry["file"])
        self.inputs = [self.tensors[f"input.rank{rank}"].values() for rank in range(self.ranks)]
        self._manifest, self._collective = manifest, collective
        self.parts = {one["ranks"][0]: one["elements"] for one in self.entries if one["kind"] == "result"}

    @functools.cached_property
    def orders(self):
        return _known_orders(self._manifest, self._collective, self)

    def golden(self, rank) -> Tensor:
        return self.tensors[f"result.rank{rank}"]

    def part(self, rank, whole):
        """The elements of a rank's result."""
        return numpy.concatenate([whole[begin:end] for begin, end in self.parts[rank]])

    def steps(self, *kinds):
        return [one for one in self.entries if one["kind"] in kinds]


def _orders(entries, ranks, elements):
    """Ranges of elements and the order of their terms; None unless each addition adds one rank."""
    ranges: dict[tuple, list] = {}
    for step in entries:
        if step["kind"] == "sum":
            ranges.setdefault(tuple(step["elements"][0]), []).append(step["terms"])
    orders = []
    for (begin, end), sums in ranges.items():
        sums = sorted((terms for terms in sums if terms), key=len)
        order = list(sums[0])
        for terms in sums[1:]:
            added = set(terms) - set(order)
            if len(added) != 1 or not set(order) <= set(terms):
                return None
            order += added
        if sorted(order) != list(range(ranks)) or len(sums[0]) > 2:
            return None
        orders.append((begin, end, order))
    return orders if sum(end - begin for begin, end, _ in orders) == elements else None


# Results of a kernel


class _Folder:
    """Results in files: <collective>/<case>.safetensors or .npy."""

    def __init__(self, folder, only_one):
        self.folder, self.only_one = pathlib.Path(folder), only_one
        if not self.folder.is_dir():
            raise InputError(f"{folder}: is not a folder; name the folder with your results")

    def results(self, case) -> dict[int, Tensor]:
        names = [case.key] + ([case.name] if self.only_one else [])
        for name, ending in itertools.product(names, (".safetensors", ".npy")):
            path = self.folder / (name + ending)
            if path.is_file():
                return self._of_arrays(case, path) if ending == ".npy" else self._of_tensors(case, path)
        raise InputError(f"{self.folder / case.key}.safetensors: is missing; write the results of this case there, "
                         "or choose others with --cases")

    def _of_arrays(self, case, path):
        try:
            array = numpy.load(path)
        except ValueError as error:
            raise InputError(f"{path}: is not a .npy file of numbers") from error
        return _by_rank(case, _of_array(array, case.dtype, path), path)

    def _of_tensors(self, case, path):
        found = read_safetensors(path)
        for name, tensor in found.items():
            if name.startswith("result") and tensor.dtype != case.dtype:
                raise InputError(f"{path}: {name} is {tensor.dtype}; results are {case.dtype}")
        if "result" in found:
            return _by_rank(case, found["result"], f"{path}: result")
        results = {rank: found[f"result.rank{rank}"] for rank in case.parts if f"result.rank{rank}" in found}
        missing = sorted(set(case.parts) - set(results))
        if missing:
            raise InputError(f"{path}: result.rank{missing[0]} is missing; store the results of all ranks, or one "
                             "named result")
        for rank, tensor in results.items():
            _check_shape(case.golden(rank).bits.shape, tensor.bits.shape, f"{path}: result.rank{rank}")
        return results


class _Arrays:
    """Results in arrays: by collective and case, as "ring/ties", or by case."""

    def __init__(self, arrays, only_one):
        self.arrays, self.only_one = arrays, only_one

    def results(self, case):
        name = case.name if self.only_one and case.key not in self.arrays else case.key
        if name not in self.arrays:
            raise InputError(f"{case.key}: is missing; pass the results of this case, or choose others with cases")
        return _by_rank(case, _of_array(self.arrays[name], case.dtype, name), name)


def _check_shape(expected, shape, where):
    if tuple(shape) != tuple(expected):
        raise InputError(f"{where}: has the shape {list(shape)}; this case has {list(expected)}")


def _by_rank(case, tensor, where) -> dict[int, Tensor]:
    """One result for all ranks, or one row for each rank."""
    bits = tensor.bits
    if bits.ndim == 2 and not case.scatters:
        _check_shape((case.ranks, case.elements), bits.shape, where)
        return {rank: Tensor(case.dtype, bits[rank]) for rank in range(case.ranks)}
    _check_shape((case.elements,), bits.shape, where)
    if case.scatters:
        return {rank: Tensor(case.dtype, case.part(rank, bits)) for rank in case.parts}
    return {0: tensor}


# Comparison


def _differing(one: Tensor, other: Tensor):
    """Where bits differ; NaN equal each other, and zeros of both signs."""
    first, second = one.values(), other.values()
    same = (one.bits == other.bits) | (numpy.isnan(first) & numpy.isnan(second)) | ((first == 0) & (second == 0))
    return ~same


def _ulps(one: Tensor, other: Tensor, at) -> int:
    def ordered(bits):
        top = 1 << (8 * bits.itemsize - 1)
        return top - (int(bits) - top) if int(bits) >= top else top + int(bits)
    return abs(ordered(one.bits[at]) - ordered(other.bits[at]))


def _place(case, rank, at) -> int:
    """Index in the tensor of an element of a rank's result."""
    for begin, end in case.parts[rank]:
        if at < end - begin:
            return begin + at
        at -= end - begin
    return at


def _text(value) -> str:
    return f"{float(value):.9g}"


def _compared(case, results) -> dict:
    """Numbers of one case, and its first difference."""
    found = {"name": case.name, "elements": sum(tensor.bits.size for tensor in results.values()), "differing": 0,
             "signed_zeros": 0, "first": None}
    for rank, mine in results.items():
        golden = case.golden(rank)
        differs = _differing(mine, golden)
        found["differing"] += int(differs.sum())
        found["signed_zeros"] += int(((mine.bits != golden.bits) & (mine.values() == 0) & (golden.values() == 0)).sum())
        if found["first"] is None and differs.any():
            at = int(numpy.argmax(differs))
            value, expected = mine.values()[at], golden.values()[at]
            finite = bool(numpy.isfinite(value) and numpy.isfinite(expected))
            found["first"] = {"element": _place(case, rank, at), "rank": rank, "value": _text(value),
                              "expected": _text(expected), "ulps": _ulps(mine, golden, at) if finite else None}
    return found


# Other readings of a sum, for plain types


class _Reading(typing.NamedTuple):
    """How a kernel may add."""
    order: str
    accumulate: str
    subnormals: str
    overflow: str


def _rounded(values, dtype, overflow):
    """float32 rounded to a type, as float32."""
    if dtype == "fp32":
        return values
    if dtype == "fp16":
        rounded = values.astype(numpy.float16).astype(numpy.float32)
    else:
        bits = values.view(numpy.uint32)
        up = ((bits.astype(numpy.uint64) + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32)
        rounded = numpy.where(numpy.isnan(values), values, up.view(numpy.float32))
    if overflow == "saturate":
        beyond = numpy.isinf(rounded) & numpy.isfinite(values)
        rounded = numpy.where(beyond, numpy.copysign(numpy.float32(_LARGEST[dtype]), values), rounded)
    return rounded


def _flushed(values, dtype, subnormals):
    if subnormals == "keep":
        return values
    return numpy.where(numpy.abs(values) < _SMALLEST_NORMAL[dtype], numpy.copysign(numpy.float32(0), values), values)


def _known_orders(manifest, collective, case) -> dict[str, list]:
    """Orders of terms by name, the simplest first: of ranks, of owners, and of the manifest's collectives."""
    orders = {"the order of ranks": [(0, case.elements, list(range(case.ranks)))]}
    shard = -(-case.elements // case.ranks)
    for name, first in (("the order from the owner on", 0), ("the order of a ring", 1)):
        orders[name] = [(owner * shard, min((owner + 1) * shard, case.elements),
                         [(owner + first + i) % case.ranks for i in range(case.ranks)])
                        for owner in range(case.ranks) if owner * shard < case.elements]
    others = [one for one in manifest["collectives"] if one is not collective]
    for one in (collective, *others):
        for entry in one["cases"]:
            if entry["name"] == case.name:
                orders[f"the order of {one['label']}"] = _orders(entry["tensors"], case.ranks, case.elements)
    return orders


def _read(case, reading: _Reading, orders) -> Tensor:
    """The result of a case by a reading, in the type of the tensor."""
    out = numpy.empty(case.elements, numpy.float32)
    to = reading.accumulate
    with numpy.errstate(all="ignore"):
        for begin, end, order in orders:
            terms = [_flushed(_rounded(case.inputs[rank][begin:end].astype(numpy.float32), to, reading.overflow), to,
                              reading.subnormals) for rank in order]
            total = terms[0]
            for term in terms[1:]:
                total = _flushed(_rounded(total + term, to, reading.overflow), to, reading.subnormals)
            out[begin:end] = _flushed(_rounded(total, case.dtype, reading.overflow), case.dtype, reading.subnormals)
        bits = out.view(numpy.uint32)
        if case.dtype == "bf16":
            return Tensor("bf16", (bits >> 16).astype(numpy.uint16))
        if case.dtype == "fp16":
            return Tensor("fp16", out.astype(numpy.float16).view(numpy.uint16))
    return Tensor("fp32", bits)


def _matches(case, results, reading, orders) -> bool:
    whole = _read(case, reading, orders).bits
    return not any(_differing(mine, Tensor(case.dtype, case.part(rank, whole))).any()
                   for rank, mine in results.items())


def _readings(dtype, orders):
    accumulators = [one for one in ("fp32", "bf16", "fp16") if one in ("fp32", dtype)]
    overflows = ["infinity"] if dtype == "fp32" else ["infinity", "saturate"]
    return [_Reading(*one) for one in itertools.product(orders, accumulators, ("keep", "flush"), overflows)]


def _matching(cases, results, candidates):
    """The readings with the bits of all cases; small cases leave few for the others."""
    for case, mine in sorted(zip(cases, results), key=lambda pair: pair[0].elements):
        candidates = [one for one in candidates
                      if case.orders.get(one.order) and _matches(case, mine, one, case.orders[one.order])]
    return candidates


def _is_plain(cases) -> bool:
    return cases[0].dtype in _SMALLEST_NORMAL and not any(case.steps("scales", "cast", "residual input")
                                                          for case in cases)


def _explained(cases, results) -> list[str]:
    """Differences between the reading with the golden bits and the nearest one with the kernel's."""
    if not _is_plain(cases):
        return []
    readings = _readings(cases[0].dtype, cases[0].orders)
    golden = _matching(cases, [{rank: case.golden(rank) for rank in mine} for case, mine in zip(cases, results)],
                       readings)
    mine = _matching(cases, results, readings)
    pairs = [(own, right) for right in golden for own in mine]
    if not pairs:
        return []
    own, right = min(pairs, key=lambda pair: sum(a != b for a, b in zip(*pair)))
    lines = []
    if own.accumulate != right.accumulate:
        rounds = "rounds after each addition" if own.accumulate != "fp32" else "rounds once"
        lines.append(f"{rounds}: matches accumulate={own.accumulate}, not {right.accumulate}")
    if own.order != right.order:
        lines.append(f"adds in another order: matches {own.order}, not {right.order}")
    if own.subnormals != right.subnormals:
        lines.append("subnormals flushed to zero" if own.subnormals == "flush" else "subnormals kept, not flushed")
    if own.overflow != right.overflow:
        lines.append("overflow saturates where Inf is expected" if own.overflow == "saturate" else
                     "overflow gives Inf where the largest value is expected")
    return lines


# Verdicts


def _patterns(cases, results) -> list[str]:
    """Causes that the differing elements of a case have in common."""
    lines = []
    for case, mine in zip(cases, results):
        values = [(one.values()[differs], case.golden(rank).values()[differs]) for rank, one in mine.items()
                  for differs in [_differing(one, case.golden(rank))]]
        own, right = (numpy.concatenate(side) for side in zip(*values))
        if not own.size:
            continue
        small = _SMALLEST_NORMAL.get(case.dtype, 0)
        if small and (own == 0).all() and (numpy.abs(right) < small).all():
            lines.append(f"subnormals flushed to zero: case {case.name}")
        elif (numpy.isfinite(own) & numpy.isinf(right)).all():
            lines.append(f"overflow saturates where Inf is expected: case {case.name}")
        elif numpy.isfinite(right).all() and not numpy.isfinite(own).any():
            lines.append(f"NaN or Inf where finite values are expected: case {case.name}")
    return lines


def _owner_sums(case):
    """The owners' own sums in the type of the tensor, and their ranks, by element; None without owners."""
    sums, owners = numpy.zeros(case.elements, numpy.float32), numpy.full(case.elements, -1)
    for step in case.steps("sum", "residual", "rounded"):
        if len(step["terms"]) == case.ranks and len(step["ranks"]) == 1:
            begin, end = step["elements"][0]
            sums[begin:end], owners[begin:end] = case.tensors[step["name"]].values(), step["ranks"][0]
    return (_rounded(sums, case.dtype, "infinity"), owners) if (owners >= 0).all() else None


def _owner_keeps(cases, results) -> bool:
    if cases[0].dtype not in _SMALLEST_NORMAL:
        return False
    for case, mine in zip(cases, results):
        kept = _owner_sums(case)
        if kept is None:
            return False
        for rank, tensor in mine.items():
            expected = numpy.where(kept[1] == rank, kept[0], case.golden(rank).values().astype(numpy.float32))
            own = tensor.values().astype(numpy.float32)
            if not ((own == expected) | (numpy.isnan(own) & numpy.isnan(expected))).all():
                return False
    return True


def _rank_lines(cases, results) -> list[str]:
    """The first element whose bits are not the same on all ranks."""
    for case, mine in zip(cases, results):
        for rank, tensor in mine.items():
            differs = _differing(tensor, mine[0])
            if differs.any():
                at = int(numpy.argmax(differs))
                line = (f"ranks differ: case {case.name}, element {at} on rank {rank}: {_text(tensor.values()[at])}, "
                        f"but {_text(mine[0].values()[at])} on rank 0")
                keeps = ["the owner keeps its own sum, not the one that it sends"] * _owner_keeps(cases, results)
                return [line, *keeps]
    return []


def _first_line(found) -> str:
    case = next(one for one in found if one["first"])
    first = case["first"]
    line = (f"first difference: case {case['name']}, element {first['element']} on rank {first['rank']}: "
            f"{first['value']} instead of {first['expected']}")
    return line if first["ulps"] is None else f"{line}, {first['ulps']} ULP"


def _verdict(collective, cases, results, found) -> list[str]:
    lines = []
    contract = collective["contract"]
    if contract["ranks_identical"]:
        lines += _rank_lines(cases, results)
    if any(one["differing"] for one in found):
        if not lines:
            lines += _explained(cases, results) or _patterns(cases, results)
        lines.append(_first_line(found))
        if not contract["deterministic"]:
            lines.append("the format rounds randomly, so that bits depend on the seed")
    zeros = sum(one["signed_zeros"] for one in found)
    if zeros:
        lines.append(f"{zeros} zeros have the other sign, which counts as equal")
    return lines


def _manifest(folder):
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        complete = manifest["complete"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not a manifest of golden vectors; write them with equarx-sim vectors") from error
    if not complete:
        raise InputError(f"{path}: is incomplete; run equarx-sim vectors again")
    return manifest


def _chosen(manifest, collective):
    if collective is None:
        return manifest["collectives"]
    chosen = [one for one in manifest["collectives"] if collective in (one["folder"], one["label"])]
    if not chosen:
        folders = ", ".join(one["folder"] for one in manifest["collectives"])
        raise InputError(f"collective '{collective}' has no golden vectors; use one of {folders}")
    return chosen


def _check_cases(manifest, names):
    known = {case["name"] for one in manifest["collectives"] for case in one["cases"] + one["not_run"]}
    for name in names or []:
        if name not in known:
            raise InputError(f"case '{name}' has no golden vectors; use some of {', '.join(sorted(known))}")


def compare(folder, outputs, *, collective: str | None = None, cases: list[str] | None = None) -> dict:
    """As equarx.check_vectors()."""
    folder = pathlib.Path(folder)
    manifest = _manifest(folder)
    chosen = _chosen(manifest, collective)
    _check_cases(manifest, cases)
    is_alone = len(chosen) == 1
    given: _Arrays | _Folder = _Arrays(outputs, is_alone) if isinstance(outputs, dict) else _Folder(outputs, is_alone)
    report = []
    for one in chosen:
        golden = [_Case(folder, manifest, one, entry) for entry in one["cases"] if not cases or entry["name"] in cases]
        results = [given.results(case) for case in golden]
        found = [_compared(case, mine) for case, mine in zip(golden, results)]
        lines = _verdict(one, golden, results, found) if golden else []
        report.append({"label": one["label"], "folder": one["folder"],
                       "agrees": not any(case["differing"] for case in found), "cases": found, "verdict": lines})
    return {"agrees": all(one["agrees"] for one in report), "collectives": report}


def _print(report):
    for one in report["collectives"]:
        differing = sum(1 for case in one["cases"] if case["differing"])
        count = len(one["cases"])
        print(f"{one['label']}: " + (f"differs in {differing} of {count} cases" if differing else
                                     f"agrees in {count} cases"))
        for line in one["verdict"]:
            print(f"  {line}")


def main(arguments=None) -> int:
    """Command line. Returns 0 if all bits agree, 1 if not, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="check_vectors", description="Compare a kernel's results with golden vectors.")
    parser.add_argument("folder", help="folder of equarx-sim vectors")
    parser.add_argument("results", help="folder with <collective>/<case>.safetensors or .npy")
    parser.add_argument("--collective", help="only this one, by its folder or label")
    parser.add_argument("--cases", help="only these, separated by commas")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        report = compare(options.folder, options.results, collective=options.collective,
                         cases=options.cases.split(",") if options.cases else None)
    except (InputError, OSError) as error:
        print(f"check_vectors: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        _print(report)
    return 0 if report["agrees"] else 1


if __name__ == "__main__":
    sys.exit(main())
