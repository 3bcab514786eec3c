#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Quantizer: one quantization of an array.
void bind_quantize(pybind11::module_& core);

}  // namespace equarx::python
