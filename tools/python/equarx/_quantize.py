"""equarx.quantize()."""
from __future__ import annotations

import os
from collections.abc import Mapping

from . import _core
from ._arrays import tensor_of
from ._config import text_of, to_json
from ._errors import InputError
from ._known import format_name
from ._metrics import Errors, sqnr_text

# dtypes of codes that fill whole bytes; others are packed into bytes.
_CODES = {"int8": "int8", "mxint8": "int8", "fp8-e4m3": "uint8", "fp8-e5m2": "uint8",
          "fp8-e4m3fnuz": "uint8", "fp8-e5m2fnuz": "uint8", "fp32": "float32", "fp16": "float16", "bf16": "uint16"}


class Quantized(Errors):
    """An array as codes and scales, with the resulting errors.

    codes: of the array's shape where a code fills whole bytes: int8 for int8 and mxint8, uint8 (the
        bits) for FP8; for casts float32, float16, uint16 (bf16). Formats of 4 and 6 bits are packed
        into one axis of uint8, the first element in the lowest bits.
    scales: float32, as multiplied with the codes; the stored type of scales (BF16, E8M0, E4M3)
        represents them exactly. Contiguous layout: one per block, along one axis. Strided layout:
        ``scales[m, e % 1024]`` for element ``e`` of minishard ``m`` (along one axis where the last
        minishard has fewer). None without scales.
    minishard: number of elements that are quantized together: elements_per_scale x 1024 in the
        strided layout.
    """

    def __init__(self, core, tensor, options: dict):
        import numpy
        self._core = core
        self.format = options["format"]
        self.shape = tensor.shape
        self.minishard = core.minishard
        dtype = _CODES.get(core.element)
        self.codes = numpy.empty(core.code_bytes, "uint8")
        self._scales = numpy.empty(core.scales, "float32")
        self._errors = core.quantize(tensor.bits, tensor.dtype, self.codes, self._scales)
        if dtype is not None:
            self.codes = self.codes.view(dtype).reshape(self.shape)

    @property
    def scales(self):
        """See the class."""
        if not self._core.scaled:
            return None
        register = 1024
        whole = self._core.block == 0 and self._scales.size % register == 0 and self._scales.size > 0
        return self._scales.reshape(-1, register) if whole else self._scales

    @property
    def bits_per_element(self) -> float:
        """Bytes of codes and scales as they are stored."""
        return self._errors["bits_per_element"]

    @property
    def non_finite(self) -> int:
        """Number of elements in scale groups with a NaN or an Inf: all of such a group decode to
        NaN."""
        return self._errors["non_finite"]

    def dequantize(self):
        """The values that codes and scales represent: float32 of the array's shape."""
        import numpy
        values = numpy.empty(self.shape, "float32")
        self._core.dequantize(self.codes, self._scales, values)
        return values

    def __repr__(self) -> str:
        return (f"Quantized({self.format}, shape {self.shape}, {self.bits_per_element:.4g} bits per element, "
                f"SQNR {sqnr_text(self.sqnr_db)})")


class Stored(Errors):
    """An array in a stored format (docs/stored_formats.md), with the resulting errors.

    codes: int16 of the array's shape. scales, zero_points, tables: float32, in the order of groups; empty without
    any.
    bits: bits of codes, scales, zero_points, tables, apart, before and widths. apart: number of elements with full
        values.
    output_error: NMSE of the layer's outputs; None without its inputs.
    widths: bits of each group of columns; column_factors: factors of columns. Empty without any.
    """

    def __init__(self, format: str, tensor, *others):
        import numpy
        self.shape = tensor.shape
        rows = int(numpy.prod(self.shape[:-1], dtype=int))
        result = _core.quantize_stored(format, rows, tensor.bits, tensor.dtype, *others)
        arrays = {name: numpy.frombuffer(result.pop(name), "int16" if name == "codes" else "float32").copy()
                  for name in ("codes", "scales", "zero_points", "tables", "decoded")}
        self.codes = arrays["codes"].reshape(self.shape)
        self.scales, self.zero_points, self.tables = arrays["scales"], arrays["zero_points"], arrays["tables"]
        self._decoded = arrays["decoded"].reshape(self.shape)
        self.bits, self.apart = result.pop("bits"), result.pop("apart")
        self.output_error = result.pop("output_error")
        self.widths, self.column_factors = result.pop("widths"), result.pop("column_factors")
        self._errors = result

    @property
    def bits_per_element(self) -> float:
        """All bits of the array / its elements."""
        return sum(self.bits.values()) / self.codes.size

    def dequantize(self):
        """The decoded values: float32 of the array's shape."""
        return self._decoded.copy()

    def __repr__(self) -> str:
        return (f"Stored(shape {self.shape}, {self.bits_per_element:.4g} bits per element, "
                f"SQNR {sqnr_text(self.sqnr_db)})")


def is_file(format) -> bool:
    """True for the path of a file rather than a name."""
    return isinstance(format, os.PathLike) or (isinstance(format, str) and ("/" in format or format.endswith(".json")))


def _values(name: str, array, shape: tuple):
    """Contiguous float32; empty for None. `shape`: required, None for any length."""
    import numpy
    if array is None:
        return numpy.empty(0, "float32")
    values = numpy.ascontiguousarray(array, "float32")
    if len(values.shape) != len(shape) or any(b not in (None, a) for a, b in zip(values.shape, shape)):
        needed = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name} has the shape {values.shape}; give ({needed})")
    return values


def _stored(tensor, format, others: dict, output, name: str, options: dict) -> Stored:
    layout = options.pop("layout", "")
    if bool(layout) != (output is not None):
        raise InputError("layout and output=\"FILE.safetensors\" belong together; give both or none")
    if options:
        raise InputError(f"{next(iter(options))} is for formats of messages; remove it and edit the format")
    if others["inputs"] is not None and others["hessian"] is not None:
        raise InputError("hessian is computed from inputs; give one of both")
    columns = tensor.shape[-1]
    shapes = {"importance": tensor.shape, "inputs": (None, columns), "hessian": (columns, columns)}
    arrays = [_values(other, others[other], shape) for other, shape in shapes.items()]
    text = text_of(format) if isinstance(format, Mapping) or is_file(format) else format
    return Stored(text, tensor, *arrays, layout, os.fspath(output or ""), name)


def quantize(array, format: str | os.PathLike | Mapping = "int8", *, dtype: str | None = None, importance=None,
             inputs=None, hessian=None, output: str | os.PathLike | None = None, name: str = "",
             **options) -> Quantized | Stored:
    """Quantizes an array once, like ``equarx-sim quantize``, and returns codes, scales and errors.

    array: float32, float16, bfloat16 (of ml_dtypes or PyTorch, or as uint16 with ``dtype="bf16"``),
        of any shape. A contiguous array is not copied.
    format: a name of ``equarx.formats()``: "int8", "fp8-e4m3", "mxfp4", "nvfp4", "bf16", ...; or a stored format:
        a name like "nf4", a dict or the path of a JSON file (docs/stored_formats.md), which returns Stored.
    importance: of each element, for stored formats that depend on it.
    inputs: of the layer whose weights the array is, a row for each token, for stored formats with error feedback,
        widths or searched column factors. hessian: instead, their X^T X up to a factor.
    options: ``scale``, ``scale_rounding``, ``layout``, ``block``, ``rounding``, ``elements_per_scale``
        as in docs/configuration.md. With a stored format, ``layout="gptq"`` or another one of
        docs/stored_formats.md writes codes and scales of the weight ``name`` to ``output``, a .safetensors file.

    Raises InputError for unsupported arrays and options.
    """
    tensor = tensor_of(array, format_name(dtype))
    others = {"importance": importance, "inputs": inputs, "hessian": hessian}
    if isinstance(format, Mapping) or is_file(format) or (isinstance(format, str) and _core.is_stored_format(format)):
        return _stored(tensor, format, others, output, name, options)
    for other, array in others.items():
        if array is not None:
            raise InputError(f"{other} is for stored formats; remove it")
    if output is not None or name:
        raise InputError("output and name are for stored formats; remove them")
    options = {"format": format_name(format), **options}
    return Quantized(_core.Quantizer(to_json(options), tensor.bits.size), tensor, options)


def dequantize(file: str | os.PathLike, *, name: str = "", layout: str = ""):
    """Decodes a quantized weight of a .safetensors file, like ``equarx-sim dequantize``: float32, outputs x inputs.

    name: of the weight, such as "model.layers.0.mlp.up_proj"; by default the only one.
    layout: as of ``quantize()``; by default by the names of the tensors.

    Raises InputError for files without such a weight.
    """
    import numpy
    rows, columns, values = _core.dequantize(os.fspath(file), layout, name)
    return numpy.frombuffer(values, "float32").reshape(rows, columns).copy()
