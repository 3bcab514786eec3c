"""equarx.quantize()."""
from __future__ import annotations

from . import _core
from ._arrays import tensor_of
from ._config import to_json
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


def quantize(array, format: str = "int8", *, dtype: str | None = None, **options) -> Quantized:
    """Quantizes an array once, like ``equarx-sim quantize``, and returns codes, scales and errors.

    array: float32, float16, bfloat16 (of ml_dtypes or PyTorch, or as uint16 with ``dtype="bf16"``),
        of any shape. A contiguous array is not copied.
    format: a name of ``equarx.formats()``: "int8", "fp8-e4m3", "mxfp4", "nvfp4", "bf16", ...
    options: ``scale``, ``scale_rounding``, ``layout``, ``block``, ``rounding``, ``elements_per_scale``
        as in docs/configuration.md.

    Raises InputError for unsupported arrays and options.
    """
    tensor = tensor_of(array, format_name(dtype))
    options = {"format": format_name(format), **options}
    return Quantized(_core.Quantizer(to_json(options), tensor.bits.size), tensor, options)
