// Number of chips that a program is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Sets replicas and partitions of a module whose header has no replica_count and num_partitions:
/// `chips` in total, or as many as the groups and pairs of its collectives name. A count that is
/// not in the header and more than 1 is noted in Module::skipped.
/// @param chips  --chips
/// @throws exceptions::UserError if `chips` contradicts the header, or is less than a collective
/// names
void set_chip_count(Module& module, std::optional<std::uint32_t> chips);

/// Where the count comes from, for messages: "replica_count 1 x num_partitions 8".
std::string chip_count_text(const Module& module);

}  // namespace equarx::hlo
