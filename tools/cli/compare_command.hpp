// equarx-sim compare: two results side by side.
#pragma once

#include <string>

namespace equarx::cli {

/// Of `equarx-sim compare`.
struct CompareArguments {
  std::string a;  ///< file of `run --json`
  std::string b;  ///< likewise
  bool json = false;
};

/// @throws input::InputError if a file holds no result.
void compare(const CompareArguments& arguments);

}  // namespace equarx::cli
