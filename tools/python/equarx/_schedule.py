"""Schedules: programs of collectives, written in Python."""
from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from . import _core
from ._config import overrides_of, text_of
from ._errors import InputError

_MOST_SEGMENTS = 8


class Part:
    """A minishard of the chunk of a rank: elements with scales of their own.

    segment, uncut: chunk that it belongs to; index: number of the minishard, from 0; offset: of the rank whose chunk it is;
    micros: range of its microshards, each a message.
    """

    __slots__ = ("segment", "uncut", "index", "offset", "micros")

    def __init__(self, segment: int, uncut: int, index: int, offset: int, micros: range):
        self.segment, self.uncut, self.index, self.offset, self.micros = segment, uncut, index, offset, micros

    def of(self, offset: int) -> Part:
        """The same minishard of the chunk of the rank at an offset from this one, 0 or more."""
        return Part(self.segment, self.uncut, self.index, offset, self.micros)

    def _place(self) -> tuple[int, int, int, int]:
        return self.segment, self.uncut, self.offset, self.index

    def __repr__(self) -> str:
        return f"Part(segment {self.segment}, minishard {self.index}, of the rank at offset {self.offset})"


class Encoded:
    """A part that the rank has encoded. part: where it is."""

    __slots__ = ("part", "_id", "_writer")
    _sent = False

    def __init__(self, part: Part, id: int, writer: ProgramWriter):
        self.part, self._id, self._writer = part, id, writer


class Sent:
    """A part on its way: the rank's own message, and the one that it receives by the same instruction from the
    rank at the opposite offset. part: its place for the receiver."""

    __slots__ = ("part", "_id", "_writer")
    _sent = True

    def __init__(self, part: Part, id: int, writer: ProgramWriter):
        self.part, self._id, self._writer = part, id, writer


class Channel:
    """A queue from every rank to the rank at an offset."""

    __slots__ = ("offset", "_id", "_writer")

    def __init__(self, offset: int, id: int, writer: ProgramWriter):
        self.offset, self._id, self._writer = offset, id, writer


def _located(method):
    """Notes the line that calls the method, and names it in errors."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        frame = sys._getframe(1)
        lines = self._lines
        self._core.begin_call(len(lines))
        lines.append((method.__name__, frame.f_code.co_filename, frame.f_lineno))
        if self._closed:
            raise InputError(f"{self._where(-1)}: the program is complete; write all of it inside the schedule")
        try:
            return method(self, *args, **kwargs)
        except InputError as error:
            raise InputError(f"{self._where(-1)}: {error}") from None
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
            raise InputError(f"{self._where(-1)}: arguments must be whole numbers from 0, and what the writer has "
                             f"returned") from None
    return call


class ProgramWriter:
    """Writes the program of one collective: the instructions that every rank executes, in this order.

    Ranks refer to each other by offset: modulo the number of ranks, or axis by axis (``offset()``).
    ``send()`` returns an object for both ends: every rank sends to the rank at the channel's offset,
    and ``wait()`` for the same object waits for the part that arrives from the opposite offset.
    Its ``.part`` is the place of the arriving part.

    ranks: number of ranks. lengths: of the axes of their grid; one for a ring. collective:
    "all-reduce", ... elements: of the tensor.
    """

    def __init__(self, core, name: str):
        self._core = core
        self._name = name
        self._lines: list[tuple[str, str, int]] = []
        self._closed = False
        self.lengths: tuple[int, ...] = tuple(core.lengths)
        self.ranks = 1
        for length in self.lengths:
            self.ranks *= length
        self.collective: str = core.collective
        self.elements: int = core.elements
        self._phase = "all-gather" if self.collective == "all-gather" else "reduce-scatter"

    # --- Division of the tensor

    @property
    def has_scales(self) -> bool:
        """True if the format of the current phase has scales."""
        return self._core.has_scales

    @_located
    def parts(self, segment: int = 0, uncut: int = 0) -> list[Part]:
        """Minishards of the rank's own chunk of a segment: its shard, or the whole segment without shards.
        uncut: number of trailing axes that do not cut it."""
        minishards, microshards = self._core.cut(segment, uncut)
        return [Part(segment, uncut, index, 0, range(microshards)) for index in range(minishards)]

    @_located
    def offset(self, axis: int, steps: int) -> int:
        """Offset of the rank that is some steps further along an axis, with wraparound; steps may be negative."""
        if not 0 <= axis < len(self.lengths):
            raise InputError(f"there is no axis {axis}; there are {len(self.lengths)}, from 0")
        return self._core.along(axis, steps % self.lengths[axis])

    @_located
    def channel(self, offset: int, name: str | None = None) -> Channel:
        """A queue from every rank to the rank at an offset; a negative one leads backward. Messages of a channel
        arrive in their order. name: for displays."""
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise InputError(f"an offset is a whole number, not {offset!r}")
        if abs(offset) >= self.ranks:
            raise InputError(f"offset {offset} is beyond the {self.ranks} ranks; use -{self.ranks - 1} to {self.ranks - 1}")
        given = offset
        offset = self._core.reverse(-offset) if offset < 0 else offset
        return Channel(offset, self._core.add_channel(offset, f"to rank {given:+d}" if name is None else str(name)), self)

    @property
    def phase(self) -> str:
        """Phase whose format applies to the encodings that follow: "reduce-scatter" (at first, except in an AllGather),
        "all-gather", and for slices "reduce-scatter-between" and "all-gather-between". Assigning changes it. In an
        AllToAll the second one is the arrays' type, for the rank's own shard."""
        return self._phase

    @phase.setter
    @_located
    def phase(self, name: str) -> None:
        self._core.use_phase(name)
        self._phase = name

    @contextlib.contextmanager
    def only(self, first: int, last: int | None = None) -> Iterator[None]:
        """Ranks first to last execute the instructions within, others skip them. For schedules with uniform=False."""
        self._use_ranks(first, first if last is None else last, sys._getframe(2))
        try:
            yield
        finally:
            self._core.use_ranks(0, self.ranks - 1)

    def _use_ranks(self, first, last, frame) -> None:
        self._lines.append(("only", frame.f_code.co_filename, frame.f_lineno))
        try:
            self._core.use_ranks(first, last)
        except (InputError, TypeError) as error:
            reason = error if isinstance(error, InputError) else f"there are {self.ranks} ranks, from 0"
            raise InputError(f"{self._where(-1)}: {reason}") from None

    @_located
    def strand(self) -> None:
        """Begins a strand: a sequence of its own, as for one direction of a ring. A rank executes the first turns of
        all strands, then the second ones, and so on."""
        self._core.begin_strand()

    @_located
    def turn(self) -> None:
        """Begins the next turn of the strand."""
        self._core.take_turn()

    # --- Messages

    @_located
    def encode(self, part: Part) -> Encoded:
        """Encodes the rank's values of a part: its input, or the sum or decoded values there. A format with scales
        takes a pass for them, unless the last sum has found them (scales_for)."""
        encoded = self._encode_scales(part)
        for micro in part.micros:
            self._core.encode_payload(encoded._id, micro)
        return encoded

    @_located
    def find_scales(self, part: Part, micro: int | None = None) -> None:
        """Finds the scales of a part in a pass over its values, if the format has any, unless the last sum has found
        them."""
        self._check(part, Part)
        for one in self._micros(part, micro):
            self._core.find_scales(*part._place(), one)

    @_located
    def encode_scales(self, part: Part) -> Encoded:
        """Encodes the scales of a part only, if the format has any; encode_micro() follows."""
        return self._encode_scales(part)

    def _encode_scales(self, part: Part) -> Encoded:
        self._check(part, Part)
        return Encoded(part, self._core.encode_scales(*part._place()), self)

    @_located
    def encode_micro(self, encoded: Encoded, micro: int) -> None:
        """Encodes one microshard."""
        self._core.encode_payload(self._check(encoded, Encoded)._id, micro)

    @_located
    def send(self, piece: Encoded | Sent, channel: Channel, gathered: Iterable[int] = (), begins: bool = False) -> Sent:
        """Sends a part, in the background: an encoded one, or verbatim one that has arrived.

        gathered: axes along which the rank has received the same part of all others; sends them, too. begins: the
        first message of a round, before which neighbours synchronise if the format has scales.
        """
        sent = self._send_scales(piece, channel, gathered, begins)
        for micro in piece.part.micros:
            self._core.send_payload(sent._id, micro)
        return sent

    @_located
    def send_scales(self, piece: Encoded | Sent, channel: Channel, gathered: Iterable[int] = (),
                    begins: bool = False) -> Sent:
        """Sends the scales of a part only, if it has any; send_micro() follows."""
        return self._send_scales(piece, channel, gathered, begins)

    def _send_scales(self, piece, channel, gathered, begins) -> Sent:
        self._check(piece, Encoded, Sent)
        self._check(channel, Channel)
        sent = self._core.send_scales(piece._sent, piece._id, channel._id, self._axes(gathered), bool(begins))
        part = piece.part
        return Sent(Part(part.segment, part.uncut, part.index, self._core.offset(True, sent), part.micros), sent, self)

    @_located
    def send_micro(self, sent: Sent, micro: int) -> None:
        """Sends one microshard."""
        self._core.send_payload(self._check(sent, Sent)._id, micro)

    @_located
    def wait(self, sent: Sent, micro: int | None = None) -> None:
        """Waits until a part has arrived, or one microshard and the scales."""
        self._check(sent, Sent)
        for one in self._micros(sent.part, micro):
            self._core.wait_payload(sent._id, one)

    @_located
    def wait_scales(self, sent: Sent) -> None:
        """Waits until the scales have arrived, if there are any."""
        self._core.wait_scales(self._check(sent, Sent)._id)

    # --- Sums and results

    @_located
    def accumulate(self, piece: Encoded | Sent, micro: int | None = None, scales_for: str | None = None) -> None:
        """Adds a part to the rank's values there, in FP32. scales_for: phase in which the complete sum is encoded next;
        this pass then finds its scales, too, if the formats have the same groups."""
        self._check(piece, Encoded, Sent)
        for one in self._micros(piece.part, micro):
            self._core.accumulate(piece._sent, piece._id, one, scales_for or "")

    @_located
    def add(self, piece: Encoded | Sent, micro: int | None = None, scales_for: str | None = None) -> None:
        """The same, but without scales the sum is rounded to the format of the part, as on rings."""
        self._check(piece, Encoded, Sent)
        for one in self._micros(piece.part, micro):
            self._core.add(piece._sent, piece._id, one, scales_for or "")

    @_located
    def reduce(self, own: Encoded, micro: int | None = None, axes: Iterable[int] | None = None) -> None:
        """Replaces the rank's values by the sum of its own part and the parts of all ranks along the axes (default:
        all), which have arrived, in FP32 and in the order of ranks.

        Without shards every rank has sent its part. With shards every rank has encoded its own, then those for the
        ranks at all offsets in rising order, and sent each to its owner.
        """
        self._check(own, Encoded)
        mask = self._axes(range(len(self.lengths)) if axes is None else axes)
        for one in self._micros(own.part, micro):
            self._core.reduce(own._id, one, mask)

    @_located
    def decode(self, piece: Encoded | Sent, micro: int | None = None) -> None:
        """Replaces the rank's values of a part by those received, for a further stage."""
        self._check(piece, Encoded, Sent)
        for one in self._micros(piece.part, micro):
            self._core.decode(piece._sent, piece._id, one)

    @_located
    def deliver(self, piece: Encoded | Sent, micro: int | None = None) -> None:
        """Writes a part to the result, as received; or the rank's own, as others receive it."""
        self._check(piece, Encoded, Sent)
        for one in self._micros(piece.part, micro):
            self._core.deliver(piece._sent, piece._id, one)

    @_located
    def store(self, part: Part, micro: int | None = None) -> None:
        """Writes the rank's values of a part to the result."""
        self._check(part, Part)
        for one in self._micros(part, micro):
            self._core.store(*part._place(), one)

    @_located
    def barrier(self, part: Part) -> None:
        """Waits until the neighbours have room for a part."""
        self._core.barrier(*self._check(part, Part)._place())

    # --- Helpers

    @staticmethod
    def _micros(part: Part, micro: int | None) -> Iterable[int]:
        return part.micros if micro is None else (micro,)

    def _axes(self, axes: Iterable[int]) -> int:
        mask = 0
        for axis in axes:
            if not isinstance(axis, int) or not 0 <= axis < len(self.lengths):
                raise InputError(f"there is no axis {axis!r}; there are {len(self.lengths)}, from 0")
            mask |= 1 << axis
        return mask

    def _check(self, value, *kinds: type):
        """An argument of one of these kinds, from this writer."""
        if not isinstance(value, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise InputError(f"needs {wanted}, not {type(value).__name__}")
        if kinds != (Part,) and value._writer is not self:
            raise InputError("the argument is of another writer; a schedule keeps nothing between calls")
        return value

    def _where(self, call: int) -> str:
        method, file, line = self._lines[call]
        return f"schedule {self._name!r}, line {line} of {os.path.basename(file)}, {method}"

    def _finish(self) -> None:
        self._closed = True
        violation = self._core.finish()
        if violation is None:
            return
        call, instruction, why = violation
        where = f"schedule {self._name!r}" if call is None else self._where(call)
        raise InputError(f"{where}: {why}{f' ({instruction})' if instruction else ''}")


class Schedule:
    """A collective's program in Python, of ``@equarx.schedule``: ``algorithm`` of the collectives on arrays and of the
    collectives of a configuration. Calling it with a ProgramWriter writes its instructions into another schedule.

    name: in results. function: the decorated one.
    """

    def __init__(self, function: Callable[[ProgramWriter], None], name: str, options: dict):
        self.name = name
        self.function = function
        self._options = options
        functools.update_wrapper(self, function, updated=())
        try:
            self._make_core()  # checks the options
        except InputError as error:
            raise InputError(f"schedule {name!r}: {error}") from None

    def _make_core(self):
        # Anew for every plan, because it refers to this object in a way that the garbage collector cannot follow.
        return _core.Schedule(self.name, self._write, **self._options)

    def _write(self, core) -> None:
        writer = ProgramWriter(core, self.name)
        returned = self.function(writer)
        if returned is not None:
            raise InputError(f"schedule {self.name!r} returns {returned!r:.60}; it writes into its argument, and returns "
                             f"nothing")
        writer._finish()

    def __call__(self, writer: ProgramWriter) -> None:
        if not isinstance(writer, ProgramWriter):
            raise InputError(f"schedule {self.name!r}: needs a ProgramWriter, not a {type(writer).__name__}; give the schedule "
                             f"as algorithm of equarx.allreduce() or of a configuration")
        self.function(writer)

    def export_msccl(self, ranks: int, bytes: str | int = "1 MiB", dtype: str = "fp32", **options) -> str:
        """The schedule as MSCCL XML (docs/msccl.md), for as many ranks, tiled as for a tensor of this size. options: keys
        of a collective."""
        kind = self._options["collectives"][0]
        return export_msccl({
            "hardware": "tpu-v5e", "topology": {"ring": ranks}, "collective": kind,
            "tensor": {"bytes": bytes, "dtype": dtype},
            "collectives": [{"label": self.name, "algorithm": self, "format": dtype, **options}]}, None, None)

    def __reduce__(self):
        """Pickles by name, like a function."""
        found = sys.modules.get(self.__module__)
        qualified: str = getattr(self, "__qualname__", "")
        for name in qualified.split("."):
            found = getattr(found, name, None)
        if found is not self:
            raise InputError(f"schedule {self.name!r} cannot be pickled, because {self.__module__}.{qualified} is another "
                             f"object; define it at the top level of a module")
        return qualified

    def __repr__(self) -> str:
        return f"Schedule({self.name!r})"


def schedule(name: str, *, collectives: str | Sequence[str] = "all-reduce", layout: str = "any", shards: bool = False,
             phases: int | None = None, segments: int = 1, microshards: int | None = None,
             uniform: bool = True) -> Callable[[Callable[[ProgramWriter], None]], Schedule]:
    """Decorates a function that writes the program of a collective (docs/schedules.md).

        @equarx.schedule("pass-around", layout="ring")
        def pass_around(w):
            ...
        equarx.allreduce(arrays, "int8", algorithm=pass_around, time=True)

    Planning calls it once or, to choose the tiling on rings, several times, also with fewer ranks.

    name: must not be a built-in algorithm's. collectives: "all-reduce", "reduce-scatter", "all-gather", "all-to-all", or
        several.
    layout: placement of ranks: "ring" (channels to neighbours only), "grid" (likewise, along the axes), "hypercube"
        (a power of two of ranks, an axis of two for each bit), "slices" (axis 0 between slices, axis 1 within), "any".
    shards: every rank owns a part of the tensor; else all handle the whole tensor. On several axes the first one cuts
        the tensor, the next one its chunks, and so on; of slices, axis 1 before axis 0.
    phases: 2 if partial sums and complete sums may have different formats (``quantize``); by default 2 with shards.
    segments: equal parts of the tensor, as for the two directions of a ring, 1 to 8. microshards: messages per
        minishard if the configuration leaves them open; by default chosen by planning. uniform: False if only some
        ranks execute some instructions (``ProgramWriter.only``).
    """
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        raise InputError(f"schedule: needs a name, such as @equarx.schedule(\"pass-around\"), not {name!r}")
    for what, value, most in (("segments", segments, _MOST_SEGMENTS), ("phases", 2 if phases is None else phases, 2),
                              ("microshards", 1 if microshards is None else microshards, 1 << 20)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError(f"schedule {name!r}: {what} must be a whole number from 1 to {most}, not {value!r}")
    kinds = [collectives] if isinstance(collectives, str) else list(collectives)
    if not kinds or not all(isinstance(kind, str) for kind in (*kinds, layout)):
        raise InputError(f"schedule {name!r}: collectives and layout are texts, such as \"all-reduce\" and \"ring\"")
    options = {"collectives": kinds, "layout": layout, "sharded": bool(shards),
               "phases": (2 if shards else 1) if phases is None else phases, "segments": segments,
               "microshards": microshards, "uniform": bool(uniform)}

    def decorate(function: Callable[[ProgramWriter], None]) -> Schedule:
        if not callable(function):
            raise InputError(f"schedule {name!r}: decorates a function with one argument, the writer")
        return Schedule(function, name, options)
    return decorate


def take_schedules(config) -> tuple[object, list[Schedule]]:
    """A configuration with the names of schedules in their places, and the schedules. @raises InputError for different
    schedules of one name, and for a function that is no schedule"""
    found: dict[str, Schedule] = {}

    def named(one):
        algorithm = one.get("algorithm") if isinstance(one, Mapping) else None
        if callable(algorithm) and not isinstance(algorithm, Schedule):
            raise InputError("/collectives: an algorithm is a name or a schedule; decorate the function by equarx.schedule()",
                             "/collectives")
        if not isinstance(algorithm, Schedule):
            return one
        if found.setdefault(algorithm.name, algorithm) is not algorithm:
            raise InputError(f"/collectives: two schedules have the name {algorithm.name!r}; rename one", "/collectives")
        return {**one, "algorithm": algorithm.name}

    collectives = config.get("collectives") if isinstance(config, Mapping) else None
    if not isinstance(collectives, (list, tuple)):
        return config, []
    renamed = [named(one) for one in collectives]
    return ({**config, "collectives": renamed} if found else config), list(found.values())


def cores_of(schedules: Iterable[Schedule]) -> list:
    """The schedules, for one plan."""
    return [one._make_core() for one in schedules]


def export_msccl(config, overrides: Mapping | None, collective: str | None) -> str:
    """The collective of a configuration with schedules as MSCCL XML."""
    named, schedules = take_schedules(config)
    return _core.export_msccl(text_of(named), overrides_of(overrides), collective or "", cores_of(schedules))
