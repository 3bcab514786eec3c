// Provenance of a result: the program's version and the hash of its configuration.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "base/output/version.hpp"

namespace equarx::output {

/// Hash of a resolved configuration: text_hash() of its JSON text.
std::string config_hash(const input::Json& resolved);

}  // namespace equarx::output
