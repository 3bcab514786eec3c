// Version of the program.
#pragma once

#include <string_view>

namespace equarx::output {

/// The release, and the commit if it is not the release's: "0.2.0+g2e1349b". Uncommitted changes
/// are part of it: "0.2.0+g2e1349b.dirty.1a2b3c4d". Programs that may compute differently have
/// different versions, unless built from a tree without a known commit.
std::string_view version();

}  // namespace equarx::output
