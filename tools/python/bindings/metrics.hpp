#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

#include "models/numerics/errors/metrics.hpp"

namespace equarx::python {

/// Error metrics by their names in results (docs/results.md).
pybind11::dict to_dict(const numerics::ErrorMetrics& errors);

/// part / whole; 0 if the whole is 0.
double share(std::uint64_t part, std::uint64_t whole);

}  // namespace equarx::python
