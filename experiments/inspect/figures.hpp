// Figures of tables.
#pragma once

#include <string>

#include <fmt/format.h>

namespace equarx::inspect {

/// Four significant digits.
inline std::string figure(double value) { return fmt::format("{:.4g}", value); }

}  // namespace equarx::inspect
