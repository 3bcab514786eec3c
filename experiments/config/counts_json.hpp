// Row counts of an AllToAll: from a file, or from the routing of tokens to experts.
#pragma once

#include <cstdint>
#include <memory>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Reads "counts" of a tensor for `ranks` ranks, `node_ranks` of them per node, and rows of
/// `row_elements` elements.
/// @throws input::UserError with the file and line, or the key, if they are invalid
std::shared_ptr<const CountsConfig> read_counts(input::ObjectReader reader, std::uint32_t ranks,
                                                std::uint32_t node_ranks,
                                                std::uint64_t row_elements);

/// The keys with all defaults.
input::Json counts_json(const CountsConfig& counts);

/// JSON Schema.
input::Json counts_schema();

/// For commands that vary size or algorithm. @throws input::InputError if there are row counts
void reject_counts(const ExperimentConfig& config);

}  // namespace equarx::config
