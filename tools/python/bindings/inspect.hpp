#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Queries without a run: chips, topologies, formats.
void bind_inspect(pybind11::module_& core);

}  // namespace equarx::python
