// Formats that advice chooses from.
#pragma once

#include <string>
#include <vector>

namespace equarx::advise {

/// Names of the scaled formats among `requested`; of all formats that are tuned by default if it is
/// empty. @throws InputError naming --formats if there is none
std::vector<std::string> scaled_formats(const std::vector<std::string>& requested);

}  // namespace equarx::advise
