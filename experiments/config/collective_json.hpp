// The "collective" and "collectives" of a configuration.
#pragma once

#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Reads "collective"; AllReduce by default.
collectives::Collective read_collective_kind(input::ObjectReader& reader);
/// Name of the collective in configurations.
std::string_view collective_key(collectives::Collective collective);

/// Reads the collectives to compare; `dtype` is the type of the tensor.
std::vector<CollectiveConfig> read_collectives(input::ObjectReader& reader,
                                               collectives::Collective collective,
                                               numerics::ElementFormat dtype);
/// Reads one collective; the reader's pointer is that object's. @throws InputError
CollectiveConfig read_collective(input::ObjectReader reader, collectives::Collective collective,
                                 numerics::ElementFormat dtype);
/// Reads "all-reduce", ... of a step from `key`.
collectives::Collective read_collective_name(input::ObjectReader& reader, std::string_view key);
/// The collective as configuration JSON, with all defaults filled in.
input::Json collective_json(const CollectiveConfig& collective, collectives::Collective kind);

/// "reduce-scatter", "all-gather" or "both".
std::string_view name(QuantizedPhases phases);

/// Schema of an element of "collectives", with annotations.
input::Json collective_schema();
/// Schema of "collective".
input::Json collective_kind_schema();
/// Schema of the name of a collective in a step, which has no neighbours.
input::Json collective_name_schema();

}  // namespace equarx::config
