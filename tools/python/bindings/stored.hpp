#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// quantize_stored and dequantize: one quantization of an array in a stored format, and a quantized
/// weight of a file.
void bind_stored(pybind11::module_& core);

}  // namespace equarx::python
