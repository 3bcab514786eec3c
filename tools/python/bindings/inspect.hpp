#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// What needs no run: chips, topologies, formats.
void bind_inspect(pybind11::module_& core);

}  // namespace equarx::python
