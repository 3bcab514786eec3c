// Explicit groups of chips, and (sender, receiver) pairs of chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Returns why `lists` are not valid groups of a collective, or an empty string. Valid groups have the
/// same size, at least 2, and no chip of `chips` is in two of them; some may be in none.
std::string group_error(const std::vector<std::vector<std::uint32_t>>& lists, std::uint32_t chips);

/// Returns the first chip that is in no list; std::nullopt if there is none.
std::optional<std::uint32_t> unlisted_chip(const std::vector<std::vector<std::uint32_t>>& lists,
                                           std::uint32_t chips);

/// Returns why `lists` are not valid pairs of a Permute, or an empty string. A valid pair is
/// (sender, receiver); no chip sends twice or receives twice. A chip paired with itself sends
/// nothing; at least one pair has two different chips.
std::string pair_error(const std::vector<std::vector<std::uint32_t>>& lists, std::uint32_t chips);

/// A permute in which every chip sends to the chip `steps` further along a mesh axis, cyclically.
struct Shift {
  std::size_t axis = 0;
  std::uint32_t steps = 0;  ///< from 1 to the length of the axis - 1
};

/// Returns the shift described by `pairs`, which must be valid by pair_error(); std::nullopt if
/// they are not a shift.
std::optional<Shift> shift_of(const std::vector<std::vector<std::uint32_t>>& pairs,
                              const Mesh& mesh);

/// Returns the index of `lists` in `known`. Adds them if absent, under the first unused name of
/// "chips 0", "chips 1", ...
std::uint32_t chip_lists_id(std::vector<ChipLists>& known,
                            std::vector<std::vector<std::uint32_t>> lists);

/// Chips per group of a collective.
std::uint32_t group_size(const CollectiveCall& call, const Mesh& mesh);

/// Groups of a collective for reports: "data+model", or "groups of 4".
std::string over_text(const CollectiveCall& call, const Mesh& mesh);

}  // namespace equarx::steps
