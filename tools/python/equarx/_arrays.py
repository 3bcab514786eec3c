"""Arrays of NumPy, PyTorch (on the CPU), JAX and any type that NumPy accepts, without a copy where
contiguous."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._errors import InputError

if TYPE_CHECKING:  # imported lazily, when the first array is used
    import numpy

# Tensor types by dtype name, and the storage dtype of types that NumPy lacks.
_TENSORS = {"float32": ("fp32", None), "float16": ("fp16", None), "bfloat16": ("bf16", "uint16"),
            "float8_e4m3fn": ("fp8-e4m3", "uint8"), "float8_e5m2": ("fp8-e5m2", "uint8")}
# Types that integers may represent, given by ``dtype``.
_BITS = {"uint16": ("bf16",), "uint8": ("fp8-e4m3", "fp8-e5m2")}
_TAKEN = "float32, float16, bfloat16 (of ml_dtypes or PyTorch, or as uint16 with dtype='bf16')"


@dataclass(frozen=True)
class Tensor:
    """An array, and the type that its bits represent."""

    bits: numpy.ndarray  # contiguous; of a dtype that has the buffer protocol
    dtype: str  # name in configurations: "fp32"
    given: numpy.dtype  # dtype of its elements and of results

    @property
    def shape(self) -> tuple[int, ...]:
        return self.bits.shape


def _from_torch(array):
    """A tensor of PyTorch as an array of NumPy, which has no bfloat16."""
    array = array.detach()
    if array.device.type != "cpu":
        raise InputError(f"an array is on {array.device}; move it to the CPU with .cpu()")
    import torch
    if array.dtype == torch.bfloat16:
        return array.view(torch.int16).numpy().view("uint16"), "bf16"
    return array.numpy(), None


def _to_numpy(array, what: str):
    import numpy
    if type(array).__module__.partition(".")[0] == "torch":
        return _from_torch(array)
    try:
        return numpy.asarray(array), None
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} is not an array of numbers: {error}") from None


def tensor_of(array, dtype: str | None = None, what: str = "the array") -> Tensor:
    """An array as a tensor. It is copied only if it is not contiguous or not in native byte order.

    @raises InputError for unsupported types, and for arrays without elements
    """
    import numpy
    values, known = _to_numpy(array, what)
    given = values.dtype
    name, bits = _type_of(given, dtype or known, what)
    if values.size == 0 or values.ndim == 0:
        raise InputError(f"{what} has the shape {values.shape}; it needs at least one axis and one element")
    if not given.isnative:
        given = given.newbyteorder("=")
        values = values.astype(given)
    values = numpy.ascontiguousarray(values)
    return Tensor(values if bits is None else values.view(bits), name, given)


def _type_of(given, dtype: str | None, what: str) -> tuple[str, str | None]:
    """The tensor type of a dtype, and the dtype as which its bits are viewed."""
    if dtype in _BITS.get(given.name, ()):
        return dtype, None
    if given.name in _TENSORS:
        name, bits = _TENSORS[given.name]
        if dtype not in (None, name):
            raise InputError(f"{what} is of {given.name}, but dtype is {dtype!r}; leave dtype out, or convert the array")
        return name, bits
    remedy = "; convert it with .astype('float32')" if given.kind in "fiub" else ""
    if given.name in _BITS:
        remedy = f"; if its elements are the bits of one, pass dtype={' or '.join(map(repr, _BITS[given.name]))}"
    raise InputError(f"{what} is of {given.name}; supported types: {_TAKEN}{remedy}")


def tensors_of(arrays, dtype: str | None) -> list[Tensor]:
    """One tensor per rank: from an array whose leading axis counts ranks, or from a sequence of
    arrays.

    @raises InputError also unless all have the same shape and type
    """
    if hasattr(arrays, "shape"):
        if len(arrays.shape) < 2:
            raise InputError(f"an array for all ranks has a leading axis of ranks and further axes, but this one "
                             f"has the shape {tuple(arrays.shape)}")
        whole = tensor_of(arrays, dtype, "the array")
        return [Tensor(bits, whole.dtype, whole.given) for bits in whole.bits]
    try:
        ranks = list(arrays)
    except TypeError:
        raise InputError(f"a {type(arrays).__name__} is neither an array nor a list with one array per rank") from None
    if not ranks:
        raise InputError("there are no arrays; give one per rank")
    tensors = [tensor_of(array, dtype, f"the array of rank {rank}") for rank, array in enumerate(ranks)]
    for rank, tensor in enumerate(tensors):
        for name in ("shape", "given"):
            if getattr(tensor, name) != getattr(tensors[0], name):
                raise InputError(f"the array of rank {rank} is of {_describe(tensor)}, and that of rank 0 of "
                                 f"{_describe(tensors[0])}; all ranks need the same")
    return tensors


def _describe(tensor: Tensor) -> str:
    return f"{tensor.given.name} {tensor.shape}"


def empty(shape: tuple[int, ...], like: Tensor):
    """Allocates an array for a result."""
    import numpy
    return numpy.empty(shape, like.given)


def refuse_overlap(memory, tensors: list[Tensor]) -> None:
    """A result may replace an array element by element, but not overlap it otherwise. @raises
    InputError"""
    import numpy
    start = memory.__array_interface__["data"][0]
    for rank, tensor in enumerate(tensors):
        if tensor.bits.__array_interface__["data"][0] == start:
            continue
        if numpy.may_share_memory(memory, tensor.bits):
            raise InputError(f"out overlaps the array of rank {rank} at another offset; give a separate array, or "
                             "that array itself")


def writable_bits(array, shape: tuple[int, ...], like: Tensor):
    """The memory of an array to write a result into. @raises InputError if it does not fit."""
    import numpy
    if not isinstance(array, numpy.ndarray):
        raise InputError(f"out must be a NumPy array, not a {type(array).__name__}")
    if array.dtype != like.given or array.shape != shape:
        raise InputError(f"out is of {array.dtype.name} {array.shape}, and the result of {like.given.name} {shape}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise InputError("out is not contiguous, or not writable; give an array that is")
    return array.view(like.bits.dtype)
