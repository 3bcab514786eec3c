#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Experiments: plan(), and the plan that it returns.
void bind_run(pybind11::module_& core);

}  // namespace equarx::python
