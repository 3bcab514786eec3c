#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// matmul: a product of two arrays in a scheme.
void bind_gemm(pybind11::module_& core);

}  // namespace equarx::python
