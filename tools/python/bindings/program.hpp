#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// The instructions of a program, and when each was done.
void bind_program(pybind11::module_& core);

}  // namespace equarx::python
