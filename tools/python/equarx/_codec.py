"""Codecs of the user: functions on arrays as number formats of collectives."""
from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

from ._arrays import _to_numpy
from ._errors import InputError

_FRAMEWORKS = ("numpy", "torch")
_SEED = 20240


class Codec:
    """A number format whose codes are computed by functions of the user, for ``format=`` of collectives.

        def encode(x):                                   # float32, shape (blocks, 128)
            exponent = numpy.ceil(numpy.log2(numpy.abs(x).max(axis=1, keepdims=True) / 127 + 1e-30))
            return numpy.rint(x / 2.0**exponent), exponent

        def decode(codes, exponent):
            return codes * 2.0**exponent

        codec = equarx.Codec(encode, decode, bits_per_element=8 + 8 / 128, ops_per_element=(8, 3), block=128)
        equarx.allreduce(gradients, codec, time=True)

    encode: takes a float32 array of shape (blocks, block), or (elements,) without ``block``, and returns the
        codes: anything that ``decode`` takes; a tuple is passed as several arguments. The array is read-only.
    decode: takes codes and returns the values, in the shape that encode got; any floating-point type, rounded
        to float32.
    bits_per_element: size on the wire with everything in it, such as scales: above 0, up to 64. Time follows from
        it; what encode returns need not be packed.
    ops_per_element: vector operations per element, as docs/model.md counts them: one number, or a pair for encode
        and decode. By default 0, so that core time is for moving the data.
    block: elements that are coded together. Blocks begin with each message; the last one is filled with zeros.
    name: in labels and tables; by default the name of encode.
    framework: "numpy", also for functions of Numba and JAX; or "torch": both get tensors.

    Both functions must be deterministic, and code each block on its own, because algorithms cut tensors
    differently: the constructor checks this on random values. Both are called by several threads, unless the
    collective has ``threads=1``.

    Values: encode and decode are called once for each message and rank; all readers of a message share its
    decoding. Sums are float32.

    Raises InputError for functions that fail the check, with their exception as the cause.
    """

    def __init__(self, encode: Callable[..., Any], decode: Callable[..., Any], bits_per_element: float,
                 ops_per_element: float | tuple[float, float] = 0.0, *, block: int | None = None,
                 name: str | None = None, framework: str = "numpy"):
        for function, what in ((encode, "encode"), (decode, "decode")):
            if not callable(function):
                raise InputError(f"{what} must be a function, not {function!r}")
        if framework not in _FRAMEWORKS:
            raise InputError(f"framework must be one of {', '.join(_FRAMEWORKS)}, not {framework!r}")
        if block is not None and (isinstance(block, bool) or not isinstance(block, int) or block < 1):
            raise InputError(f"block must be a whole number from 1, not {block!r}")
        pair = ops_per_element if isinstance(ops_per_element, (tuple, list)) else (ops_per_element, ops_per_element)
        if len(pair) != 2:
            raise InputError(f"ops_per_element must be a number, or a pair for encode and decode, not {ops_per_element!r}")
        self.encode = encode
        self.decode = decode
        self.block = block
        self.bits_per_element = _number("bits_per_element", bits_per_element, 64, zero=False)
        self.encode_operations, self.decode_operations = (_number("ops_per_element", one, 1e6) for one in pair)
        self.name = _name(name, encode)
        self._framework = framework
        self._check()

    @property
    def keys(self) -> dict:
        """Its keys in a collective of a configuration, to simulate its time:
        ``{"algorithm": "equarx", **codec.keys}`` with ``"numerics": "off"``."""
        return {"format": "own", "codec": {"name": self.name, "bits_per_element": self.bits_per_element,
                                           "block": self.block or 1, "encode_operations": self.encode_operations,
                                           "decode_operations": self.decode_operations}}

    def round_trip(self, array):
        """The array's values after encode and decode, as float32 in the array's shape.

        Elements are coded in their order in memory, as one message. @raises InputError
        """
        import numpy
        values, _ = _to_numpy(array, "the array")
        if values.dtype.kind != "f" or values.size == 0:
            raise InputError(f"the array must have floating-point elements, not {values.dtype.name} {values.shape}")
        return self._decoded(values.astype(numpy.float32, copy=False).reshape(-1)).reshape(values.shape)

    def _code(self, values: memoryview, decoded: memoryview) -> None:
        """Round trip of a message, for the program; its memory is not kept."""
        import numpy
        numpy.frombuffer(decoded, numpy.float32)[:] = self._decoded(numpy.array(values, numpy.float32))

    def _decoded(self, values):
        """Round trip of values of shape (elements,)."""
        import numpy
        elements = values.size
        shape: tuple[int, ...] = (elements,)
        if self.block is not None:
            shape = (-(-elements // self.block), self.block)
            if elements % self.block:
                values = numpy.concatenate([values, numpy.zeros(shape[0] * self.block - elements, numpy.float32)])
        given = values.reshape(shape).view()
        given.flags.writeable = False
        codes = self._called("encode", self.encode, self._to_framework(given))
        parts = codes if isinstance(codes, tuple) else (codes,)
        result = self._called("decode", self.decode, *parts)
        return self._checked(result, shape).reshape(-1)[:elements]

    def _to_framework(self, values):
        if self._framework == "numpy":
            return values
        torch = importlib.import_module("torch")
        return torch.tensor(values)  # a copy, as tensors cannot be read-only

    def _called(self, what: str, function, *arguments):
        try:
            return function(*arguments)
        except Exception as error:
            remedy = ""
            if isinstance(error, ValueError) and "read-only" in str(error):
                remedy = "; it changes its input: copy that first"
            raise InputError(f"codec '{self.name}': {what} raised {type(error).__name__}: {error}{remedy}") from error

    def _checked(self, result, shape: tuple[int, ...]):
        """The result of decode as float32 of this shape. @raises InputError"""
        import numpy
        try:
            values, type_of_bits = _to_numpy(result, "the result")
        except InputError:
            values = None
        else:
            if type_of_bits == "bf16":  # of PyTorch
                values = (values.astype(numpy.uint32) << 16).view(numpy.float32)
        if values is None or values.dtype.kind not in "fV":
            raise InputError(f"codec '{self.name}': decode returned "
                             f"{type(result).__name__ if values is None else values.dtype.name}; it must return an array "
                             "of floating-point values")
        if values.shape != shape:
            raise InputError(f"codec '{self.name}': decode returned the shape {values.shape}; encode got {shape}")
        return numpy.ascontiguousarray(values, numpy.float32)

    def _check(self) -> None:
        """Round trips of random values. @raises InputError"""
        import numpy
        block = self.block or 128
        values = numpy.random.default_rng(_SEED).standard_normal(7 * block).astype(numpy.float32)
        values[:block] = 0.0
        values[block:2 * block] *= 2.0**-20
        values[2 * block:3 * block] *= 2.0**10
        once = self._decoded(values)
        if not _same_bits(once, self._decoded(values)):
            raise InputError(f"codec '{self.name}': encode and decode return other values the second time; they must be "
                             "deterministic, with random numbers from a fixed seed")
        parts = [self._decoded(values[begin:end].copy()) for begin, end in ((0, 3 * block), (3 * block, 7 * block))]
        if not _same_bits(once, numpy.concatenate(parts)):
            blocks = f"blocks of {self.block}" if self.block else "elements"
            raise InputError(f"codec '{self.name}': the values of {blocks} depend on others of the same call; algorithms "
                             "cut tensors differently, so each must be coded on its own: set block to what is coded "
                             "together")
        self._decoded(values[:block // 2 + 1].copy())

    def __repr__(self) -> str:
        block = "" if self.block is None else f", blocks of {self.block}"
        return f"Codec({self.name}, {self.bits_per_element:g} bits per element{block})"


def _same_bits(one, other) -> bool:
    import numpy
    return numpy.array_equal(one.view(numpy.uint32), other.view(numpy.uint32))


def _number(what: str, value, most: float, zero: bool = True) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, (str, bool)) or not (number > 0 or (zero and number == 0)) or number > most:
        raise InputError(f"{what} must be a number {'from 0' if zero else 'above 0, up'} to {most:g}, not {value!r}")
    return number


def _name(name, encode) -> str:
    if name is None:
        name = getattr(encode, "__name__", "own").strip("<>")
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise InputError(f"name must be a text without control characters, not {name!r}")
    return name
