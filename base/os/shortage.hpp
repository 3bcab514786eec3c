// Recognition of resource exhaustion.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace equarx::os {

/// Returns a one-line message with a remedy if the error signals exhaustion of memory, processes or
/// threads, or open files; else std::nullopt.
std::optional<std::string> shortage(const std::exception& error);

}  // namespace equarx::os
