#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// quantize_stored: one quantization of an array in a stored format.
void bind_stored(pybind11::module_& core);

}  // namespace equarx::python
