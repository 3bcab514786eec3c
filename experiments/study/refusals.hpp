// Errors of rows, for the checks of a study.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/study/study.hpp"

namespace equarx::study {

/// Names to choose from.
using Names = std::vector<std::string>;

/// Returns "; did you mean 'speedup'?", or all names if there are few.
std::string hint(const std::string& wrong, const Names& names);

/// @throws InputError at a key of the row, with its id
[[noreturn]] void refuse(const StudyRow& row, std::string_view key, const std::string& problem);

}  // namespace equarx::study
