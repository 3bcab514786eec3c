#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// Splits "int8,bf16" at commas. Empty text: no parts. Keeps empty parts; the caller must reject
/// them.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace equarx::cli
