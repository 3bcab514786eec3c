#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// LazyWorkers: gradients that are sent if they have changed enough.
void bind_lazy(pybind11::module_& core);

}  // namespace equarx::python
