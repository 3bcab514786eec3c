"""equarx.quantize()."""
from __future__ import annotations

from . import _core
from ._arrays import tensor_of
from ._config import to_json
from ._known import format_name
from ._metrics import Errors

# dtypes of codes that fill whole bytes; others are packed into bytes.
_CODES = {"int8": "int8", "mxint8": "int8", "fp8-e4m3": "uint8", "fp8-e5m2": "uint8",
          "fp8-e4m3fnuz": "uint8", "fp8-e5m2fnuz": "uint8", "fp32": "float32", "fp16": "float16", "bf16": "uint16"}


class Quantized(Errors):
    """An array as codes and scales, with the errors that this makes.

    codes: of the array's shape where a code fills whole bytes: int8 for int8 and mxint8, uint8 (the bits) for FP8; of
        the casts float32, float16, uint16 (bf16). Formats of 4 and 6 bits are packed into one axis of uint8, the first
        element in the lowest bits.
    scales: float32, as the codes are multiplied by them; the stored type of scales (BF16, E8M0, E4M3) holds them
        exactly. Contiguous layout: one for each block, along one axis. Strided layout: ``scales[m, e % 1024]`` for
        element ``e`` of minishard ``m`` (along one axis where the last minishard has fewer). None without scales.
    minishard: elements that are quantized together: of the strided layout elements_per_scale x 1024.
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
        """Of codes and scales as they are stored."""
        return self._errors["bits_per_element"]

    @property
    def non_finite(self) -> int:
        """Elements of scale groups with a NaN or an Inf: all of a group decode to NaN."""
        return self._errors["non_finite"]

    def dequantize(self):
        """The values that codes and scales stand for: float32 of the array's shape."""
        import numpy
        values = numpy.empty(self.shape, "float32")
        self._core.dequantize(self.codes, self._scales, values)
        return values

    def __repr__(self) -> str:
        return (f"Quantized({self.format}, shape {self.shape}, {self.bits_per_element:.4g} bits per element, "
                f"SQNR {self.sqnr_db:.2f} dB)")


def quantize(array, format: str = "int8", *, dtype: str | None = None, **options) -> Quantized:
    """Quantizes an array once, as ``equarx-sim quantize`` does, and says what that does to it.

    array: float32, float16, bfloat16 (of ml_dtypes or PyTorch, or as uint16 with ``dtype="bf16"``), of any shape.
        It is not copied if it is contiguous.
    format: a name of ``equarx.formats()``: "int8", "fp8-e4m3", "mxfp4", "nvfp4", "bf16", ...
    options: ``scale``, ``layout``, ``block``, ``rounding``, ``elements_per_scale`` as in docs/configuration.md.

    Raises InputError for arrays and options that it cannot take.
    """
    tensor = tensor_of(array, format_name(dtype))
    options = {"format": format_name(format), **options}
    return Quantized(_core.Quantizer(to_json(options), tensor.bits.size), tensor, options)
