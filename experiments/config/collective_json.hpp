// "collective" and "collectives" of a configuration.
#pragma once

#include <string_view>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// "collective"; AllReduce by default.
collectives::Collective read_collective_kind(input::ObjectReader& reader);
/// What a configuration calls the collective.
std::string_view collective_key(collectives::Collective collective);

/// The algorithms to compare; `dtype` is that of the tensor.
std::vector<CollectiveConfig> read_collectives(input::ObjectReader& reader,
                                               collectives::Collective collective,
                                               numerics::ElementFormat dtype);
/// One of them. `place` of its reader is that of its object. @throws InputError
CollectiveConfig read_collective(input::ObjectReader reader, collectives::Collective collective,
                                 numerics::ElementFormat dtype);
/// "all-reduce", ... in a key of this name.
collectives::Collective read_collective_name(input::ObjectReader& reader, std::string_view key);
/// A collective as a configuration has it, with every default filled in.
input::Json collective_json(const CollectiveConfig& collective, collectives::Collective kind);

/// "reduce-scatter", "all-gather" or "both".
std::string_view name(QuantizedPhases phases);

}  // namespace equarx::config
