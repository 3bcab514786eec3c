#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Instruction stream of a collective, and the times of its instructions.
void bind_program(pybind11::module_& core);

}  // namespace equarx::python
