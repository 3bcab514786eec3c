// Cached predictions of collectives.
#pragma once

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Adds the class Predictor.
void bind_predict(pybind11::module_& core);

}  // namespace equarx::python
