#include "experiments/output/provenance.hpp"

#include "experiments/input/json.hpp"
#include "experiments/output/hash.hpp"

namespace equarx::output {

std::string config_hash(const input::Json& resolved) { return text_hash(resolved.dump()); }

}  // namespace equarx::output
