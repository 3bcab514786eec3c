// Which program this is.
#pragma once

#include <string_view>

namespace equarx::output {

/// The release, and the commit where it is not that of the release: "0.2.0+g2e1349b". Changes that are not
/// committed are part of it: "0.2.0+g2e1349b.dirty.1a2b3c4d". Two programs that may compute differently have
/// different versions, but for those built from a tree that names no commit.
std::string_view version();

}  // namespace equarx::output
