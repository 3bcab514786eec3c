"""Times of collectives for simulators of other systems."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from . import _core
from ._config import to_json
from ._errors import InputError

_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8-e4m3": 1, "fp8-e5m2": 1}  # of an element
_GRIDS = ("slice", "mesh", "torus", "ring")  # topologies whose chips have neighbours


class Prediction(NamedTuple):
    """An answer of ``CommunicationModel``; members are as of ``equarx_answer`` (docs/predictor.md), times in seconds."""
    time: float
    low: float
    high: float
    samples: int
    nmse: float
    sqnr_db: float
    ranks: int
    conversions: int
    encodings: int
    sums_in_fp32: bool
    deterministic: bool
    ranks_identical: bool
    calibrated: bool
    algorithm: str
    protocol: str


class CommunicationModel:
    """Times of the collectives of a machine in seconds, for simulators that call it often (docs/predictor.md).

        model = equarx.CommunicationModel("h100", {"switch": 8}, format="fp8-e4m3")
        model.all_reduce(8 << 20, ranks=4)

    hardware, topology: as in a configuration.
    dtype: type of the tensors.
    format: on the wire, by default the tensors' type.
    algorithm: "auto" for the fastest.
    options: further keys of a collective, like {"protocol": "auto"}.
    machine: further keys of a configuration, like {"faults": ...}.
    cache: most answers to keep.
    threads: of one answer; 0 for one per core.

    Distinct calls are simulated; an equal one later takes microseconds. Thread-safe.
    """

    def __init__(self, hardware, topology: Mapping, *, dtype: str = "bf16", format: str | None = None,
                 algorithm: str = "auto", options: Mapping | None = None, machine: Mapping | None = None,
                 cache: int = 65536, threads: int = 0):
        if dtype not in _BYTES:
            raise InputError(f"dtype: {dtype!r} is none of {', '.join(_BYTES)}")
        self._machine = {**(machine or {}), "hardware": hardware, "topology": topology}
        self._dtype, self._format, self._algorithm = dtype, format or "", algorithm
        self._options = to_json(options) if options else ""
        self._counts = (_whole("cache", cache, 1), _whole("threads", threads, 0))
        self._times = self._made(self._machine, numbers=False)
        self._whole_answers: _core.Predictor | None = None
        self._pair: _core.Predictor | None = None

    def _made(self, machine: Mapping, numbers: bool) -> _core.Predictor:
        return _core.Predictor(to_json(machine), *self._counts, numbers, numbers)

    @property
    def chips(self) -> int:
        """Chips of the machine."""
        return self._times.chips

    def all_reduce(self, bytes: int, ranks: int | None = None) -> float:
        """Time of an AllReduce of a tensor of these bytes on each rank."""
        return self._time("all-reduce", bytes, ranks)

    def reduce_scatter(self, bytes: int, ranks: int | None = None) -> float:
        """Time of a ReduceScatter; bytes: of each rank's input."""
        return self._time("reduce-scatter", bytes, ranks)

    def all_gather(self, bytes: int, ranks: int | None = None) -> float:
        """Time of an AllGather; bytes: of each rank's output."""
        return self._time("all-gather", bytes, ranks)

    def all_to_all(self, bytes: int, ranks: int | None = None) -> float:
        """Time of an AllToAll; bytes: of each rank's input, its own part included."""
        return self._time("all-to-all", bytes, ranks)

    def broadcast(self, bytes: int, ranks: int | None = None) -> float:
        """Time of a Broadcast."""
        return self._time("broadcast", bytes, ranks)

    def point_to_point(self, bytes: int) -> float:
        """Time of a message from a chip to a neighbour on grids, or to any other chip of a node: a Broadcast to two
        ranks."""
        if self._pair is None:
            self._pair = self._made(self._machine | {"topology": _pair_of(self._machine["topology"])}, numbers=False)
        return self._answer(self._pair, "broadcast", bytes, 0)["time"] if bytes else 0.0

    def predict(self, collective: str, bytes: int, ranks: int | None = None) -> Prediction:
        """Time, interval, error and roundings of a collective, named as in a configuration."""
        if self._whole_answers is None:
            self._whole_answers = self._made(self._machine, numbers=True)
        return Prediction(**self._answer(self._whole_answers, collective, bytes, ranks or 0))

    def _time(self, collective: str, bytes: int, ranks: int | None) -> float:
        if ranks == 1 or bytes == 0:
            return 0.0
        return self._answer(self._times, collective, bytes, ranks or 0)["time"]

    def _answer(self, predictor: _core.Predictor, collective: str, bytes: int, ranks: int) -> dict:
        size = _BYTES[self._dtype]
        rounded = -(-_whole("bytes", bytes, 0) // size) * size  # whole elements
        return predictor.predict(collective, rounded, _whole("ranks", ranks, 0), self._dtype, self._format,
                                 self._algorithm, self._options)


def _whole(name: str, value, least: int) -> int:
    """A whole number of at least `least`, also of NumPy. @raises InputError"""
    try:
        number = value.__index__()
    except AttributeError:
        raise InputError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number < 2**(64 if name == "bytes" else 32):
        raise InputError(f"{name}: {number} is out of range; it is at least {least}")
    return number


def _pair_of(topology: Mapping) -> dict:
    """Two chips of a topology that are joined by a link."""
    if any(kind in topology for kind in _GRIDS):
        return {"mesh": "2x1"}
    kind = next((kind for kind in ("switch", "fully-connected") if kind in topology), None)
    if kind is None:
        raise InputError("point_to_point: the topology has no pair of chips that represents all; use a switch, a fully "
                         "connected node or a grid")
    return {kind: 2}
