#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Collective: a collective on arrays.
void bind_collective(pybind11::module_& core);

}  // namespace equarx::python
