#include "base/output/provenance.hpp"

#include "base/input/json.hpp"
#include "base/output/hash.hpp"

namespace equarx::output {

std::string config_hash(const input::Json& resolved) { return text_hash(resolved.dump()); }

}  // namespace equarx::output
