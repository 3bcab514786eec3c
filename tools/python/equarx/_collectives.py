"""Collectives on arrays: the result of every rank, bit for bit."""
from __future__ import annotations

import functools
import json
import warnings
from typing import Protocol

from . import _core
from ._arrays import Tensor, empty, refuse_overlap, tensors_of, writable_bits
from ._codec import Codec
from ._config import to_json
from ._errors import InputError
from ._known import format_name, formats
from ._metrics import Errors, sqnr_text
from ._run import run
from ._schedule import Schedule, cores_of, take_schedules
from .result import Run

# Algorithm of a collective: without scales, and with them.
_DEFAULTS = {"all-reduce": ("ring", "equarx"), "reduce-scatter": ("ring", "equarx"), "all-gather": ("ring", "equarx"),
             "all-to-all": ("direct", "direct"), "broadcast": ("ring", "equarx"),
             "neighbor-average": ("neighbors", "neighbors")}
_DIFFERS_BY_RANK = ("all-to-all", "neighbor-average")
_LABEL = "collective"


class Outcome(Errors):
    """Result of a collective on the ranks' arrays, and the errors against the exact result, in
    float64.

    result: for AllReduce, AllGather and Broadcast the result of every rank, in the shape of one
        rank's array. For ReduceScatter the sum; each rank owns one shard of it. For AllToAll, of
        shape (ranks, ...), the array of each sending rank as it arrives; for NeighborAverage the
        result of each rank. It has the arrays' dtype.
    timing: the simulated run, if requested: a Run, as in ``equarx.run(...).runs``.
    config: the configuration with every default filled in; ``equarx.run()`` accepts it.
    """

    def __init__(self, core, kind: str, result, errors: dict, timing: Run | None, schedule: Schedule | None = None):
        self._core = core
        self._kind = kind
        self._schedule = schedule
        self._errors = errors
        self._at_largest = errors.pop("at_largest_fraction")
        self.result = result
        self.timing = timing
        self.ranks = core.ranks

    @property
    def time(self) -> float | None:
        """Simulated time in seconds; None without ``time=True``."""
        return None if self.timing is None else self.timing.time

    @property
    def config(self) -> dict:
        """See the class."""
        config = json.loads(self._core.config)
        if self._schedule is not None:
            config["collectives"][0]["algorithm"] = self._schedule
        return config

    @property
    def at_largest_fraction(self) -> float:
        """Share of the result's elements at the largest code, for formats with a scale shared by
        all ranks; else 0."""
        return self._at_largest

    def shard(self, rank: int) -> list[slice]:
        """Position of a rank's shard in the flat tensor: one slice per segment."""
        return [slice(begin, end) for begin, end in self._core.shard(self._checked(rank))]

    def of_rank(self, rank: int):
        """Result of a rank: the result; for NeighborAverage its own; for ReduceScatter its shard,
        along one axis; for AllToAll an array (ranks, elements of the shard) with its shard from
        every sender."""
        import numpy
        self._checked(rank)
        if self._kind == "reduce-scatter":
            flat = self.result.reshape(-1)
            return numpy.concatenate([flat[part] for part in self.shard(rank)])
        if self._kind == "all-to-all":
            flat = self.result.reshape(self.ranks, -1)
            return numpy.concatenate([flat[:, part] for part in self.shard(rank)], axis=1)
        return self.result[rank] if self._kind == "neighbor-average" else self.result

    def _checked(self, rank: int) -> int:
        if not 0 <= rank < self.ranks:
            raise InputError(f"there is no rank {rank}; there are {self.ranks}, from 0")
        return rank

    def __array__(self, dtype=None, copy=None):
        import numpy
        return numpy.array(self.result, dtype) if copy else numpy.asarray(self.result, dtype)

    def __repr__(self) -> str:
        time = "" if self.time is None else f", {self.time * 1e6:.1f} us"
        return f"Outcome({self._kind} of {self.ranks} ranks, SQNR {sqnr_text(self.sqnr_db)}{time})"


@functools.lru_cache(maxsize=None)
def _scaled_formats() -> list[str]:
    return [entry["name"] for entry in formats() if entry["scaled"]]


def _configuration(kind: str, tensors: list[Tensor], *, format, topology, algorithm, hardware, options: dict) -> dict:
    own = isinstance(format, Codec)
    keys = format.keys if own else {"format": format_name(format)}
    if algorithm is None:
        algorithm = _DEFAULTS[kind][own or keys["format"] in _scaled_formats()]
    collective = {"label": _LABEL, "algorithm": algorithm, **options}
    if keys["format"] is not None:
        collective.update(keys)
    return {"hardware": hardware, "topology": {"ring": len(tensors)} if topology is None else topology,
            "tensor": {"shape": tensors[0].shape, "dtype": tensors[0].dtype}, "collective": kind,
            "collectives": [collective], **({"numerics": "off"} if own else {})}


@functools.lru_cache(maxsize=32)
def _planned_before(config: str):
    """Planning evaluates tilings, which takes as long as computing some MiB; configurations often
    recur."""
    return _core.Collective(config)


def _planned(config: dict):
    """The collective of a configuration; planned anew if it names files or has a schedule, which may have changed."""
    named, schedules = take_schedules(config)
    if schedules:
        return _core.Collective(to_json(named), cores_of(schedules))
    names_files = "file" in str(config["topology"]) or str(config["hardware"]) not in _chips()
    text = to_json(config)
    return _core.Collective(text) if names_files else _planned_before(text)


@functools.lru_cache(maxsize=None)
def _chips() -> frozenset[str]:
    return frozenset(chip["name"] for chip in json.loads(_core.chips()[0]))


def _timed(config: dict) -> Run:
    return run({**config, "numerics": "off"}).runs[_LABEL]


def _check_count(name: str, value) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise InputError(f"{name} must be a whole number from 0, not {value!r}")


def _result_array(core, kind: str, tensors: list[Tensor], out):
    """The array for the result, and the part of it that the result is written into."""
    shape = tensors[0].shape
    if kind in _DIFFERS_BY_RANK:
        shape = (len(tensors), *shape)
    if out is None:
        out = empty(shape, tensors[0])
        return out, out.view(tensors[0].bits.dtype)
    every = getattr(out, "shape", None) == (len(tensors), *shape)
    part = out[0] if every else out
    memory = writable_bits(part, shape, tensors[0])
    refuse_overlap(memory, tensors)
    return out, memory


def _check_feedback(kind: str, core, tensors: list[Tensor], result, feedback) -> None:
    """Checks the array for error feedback: float32, one part per rank, contiguous and writable."""
    import numpy
    if kind not in ("all-reduce", "reduce-scatter"):
        raise InputError(f"feedback: applies to sums (all-reduce and reduce-scatter); {kind} does not sum")
    if not core.can_feed_back:
        raise InputError("feedback: recursive-doubling quantizes each sum on several ranks, so no single rank can correct "
                         "its error; use another algorithm, such as two-shot or halving-doubling")
    shape = (len(tensors), *tensors[0].shape)
    fits = isinstance(feedback, numpy.ndarray) and feedback.dtype == numpy.float32 and feedback.shape == shape
    if not fits or not feedback.flags.c_contiguous or not feedback.flags.writeable:
        raise InputError(f"feedback: needs a contiguous float32 array of shape {shape} that is writable, such as "
                         f"numpy.zeros({shape}, numpy.float32) before the first step")
    if any(numpy.may_share_memory(feedback, memory) for memory in (result, *(tensor.bits for tensor in tensors))):
        raise InputError("feedback: shares memory with the arrays or the result; give a separate array")


def _collective(kind: str, arrays, *, format, topology, algorithm, hardware, dtype, time, out, feedback, threads, seed,
                options):
    _check_count("threads", threads)
    _check_count("seed", seed)
    tensors = tensors_of(arrays, format_name(dtype))
    config = _configuration(kind, tensors, format=format, topology=topology, algorithm=algorithm, hardware=hardware,
                            options=options)
    timing = _timed(config) if time or algorithm == "auto" else None
    if timing is not None and algorithm == "auto":
        config["collectives"][0]["algorithm"] = timing.algorithm
    core = _planned(config)
    if core.ranks != len(tensors):
        raise InputError(f"/topology: has {core.ranks} chips, and there are arrays for {len(tensors)} ranks; give one "
                         f"array for each chip", "/topology")
    result, memory = _result_array(core, kind, tensors, out)
    if feedback is not None:
        if isinstance(algorithm, Schedule):
            raise InputError(f"feedback: needs a built-in algorithm, in which a single rank makes each quantization; "
                             f"schedule {algorithm.name!r} may have others")
        if options.get("hadamard"):
            raise InputError("feedback: does not apply to rotated tensors, as their errors are rotated, too; remove hadamard")
        _check_feedback(kind, core, tensors, memory, feedback)
    errors = core.run([tensor.bits for tensor in tensors], tensors[0].dtype, memory, threads, seed, feedback,
                      format._code if isinstance(format, Codec) else None)
    for warning in errors.pop("warnings"):
        warnings.warn(f"{warning}; errors leave such elements out", stacklevel=3)
    # out has a leading axis of ranks, which end with equal results
    if result.shape != memory.shape:
        result[1:] = result[0]
        result = result[0]
    schedule = algorithm if isinstance(algorithm, Schedule) else None
    return Outcome(core, kind, result, errors, timing if time else None, schedule)


_ARGUMENTS = """
    arrays: one per rank: an array whose leading axis counts ranks, or a list of arrays of equal
        shape. float32, float16, bfloat16 (of ml_dtypes or PyTorch, or as uint16 with
        ``dtype="bf16"``); contiguous arrays are not copied.
    format: number format of the messages, a name of ``equarx.formats()`` or a ``Codec``; formats
        with scales quantize, and so do codecs. By default the type of the arrays.
    topology: as in a configuration: ``{"slice": "4x2"}``, ``{"torus": "4x4"}``; by default a ring
        with one chip per rank.
    algorithm: "ring", "equarx", "two-shot", ... (docs/algorithms.md); "auto" for the fastest; or a
        ``Schedule``. By default %s.
    hardware: a built-in chip, the path of a hardware file, or an object as in a configuration.
    time: simulates the collective, too; ``.time`` is then its time in seconds.
    out: an array to write the result into, of the result's shape; with a leading axis of ranks,
        every rank's part is filled if all ranks end with equal results. It may be ``arrays`` itself.
    feedback: error feedback over steps: a float32 array with a leading axis of ranks, zeros before
        the first step. Its values are added to the arrays, and replaced by the errors of the ranks'
        quantizations in this step. For AllReduce and ReduceScatter. ``time`` does not include its
        cost.
    threads: number of computing threads; 0 for one per core. seed: of stochastic rounding.
    options: keys of a collective in docs/configuration.md: ``ring``, ``quantize``, ``minishards``,
        ``scale``, ...

    Raises InputError for arrays that do not match each other or the topology, and for invalid
    configurations.
"""


class CollectiveFunction(Protocol):
    """A collective on arrays; its docstring describes it."""

    def __call__(self, arrays, format: str | Codec | None = None, *, topology=None,
                 algorithm: str | Schedule | None = None,
                 hardware="tpu-v5e", dtype: str | None = None, time: bool = False, out=None, feedback=None,
                 threads: int = 0, seed: int = 1, **options) -> Outcome: ...


def _define(name: str, kind: str, default: str, summary: str) -> CollectiveFunction:
    def collective(arrays, format: str | Codec | None = None, *, topology=None,
                   algorithm: str | Schedule | None = None,
                   hardware="tpu-v5e", dtype: str | None = None, time: bool = False, out=None, feedback=None,
                   threads: int = 0, seed: int = 1, **options) -> Outcome:
        return _collective(kind, arrays, format=format, topology=topology, algorithm=algorithm, hardware=hardware,
                           dtype=dtype, time=time, out=out, feedback=feedback, threads=threads, seed=seed,
                           options=options)

    collective.__name__ = collective.__qualname__ = name
    collective.__module__ = "equarx"
    collective.__doc__ = summary + "\n" + _ARGUMENTS % default
    return collective


_RING = '"equarx" for formats with scales, else "ring"'
allreduce = _define("allreduce", "all-reduce", _RING, "AllReduce: every rank ends with the sum of all ranks' arrays.")
reduce_scatter = _define("reduce_scatter", "reduce-scatter", _RING,
                         "ReduceScatter: every rank ends with its own shard of the sum.")
all_gather = _define("all_gather", "all-gather", _RING,
                     "AllGather: every rank ends with all shards; each rank contributes its own shard of its array.")
all_to_all = _define("all_to_all", "all-to-all", '"direct"',
                     "AllToAll: every rank ends with its own shard of every rank's array.")
broadcast = _define("broadcast", "broadcast", _RING, "Broadcast: every rank ends with the array of rank 0.")
neighbor_average = _define("neighbor_average", "neighbor-average", '"neighbors"',
                           "Every rank ends with the mean of its own and its neighbours' arrays, by Metropolis weights.")
