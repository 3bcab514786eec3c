#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// "int8,bf16" as its parts; none of an empty text. Parts may be empty, which who reads them refuses.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace equarx::cli
