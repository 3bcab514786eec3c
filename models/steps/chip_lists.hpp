// Groups of chips that are no axes of a mesh, and pairs of chips of which one sends to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Why lists of chips are no groups that a collective can go on in; empty if they are: every chip of `chips` is in one,
/// and all have as many, two at least.
std::string why_no_groups(const std::vector<std::vector<std::uint32_t>>& lists,
                          std::uint32_t chips);

/// Why lists are no pairs of a Permute; empty if they are: from and to, no chip sends twice, and none receives twice. A
/// chip that "sends" to itself sends nothing; one pair at least is of two chips.
std::string why_no_pairs(const std::vector<std::vector<std::uint32_t>>& lists, std::uint32_t chips);

/// A permute in which every chip sends to the one that lies `steps` further along an axis of the mesh, round its end.
struct Shift {
  std::size_t axis = 0;
  std::uint32_t steps = 0;  ///< from 1 to the axis' length - 1
};

/// The shift that pairs are; none if they are no such. why_no_pairs() has nothing against them.
std::optional<Shift> shift_of(const std::vector<std::vector<std::uint32_t>>& pairs,
                              const Mesh& mesh);

/// The index of lists among those that are known, to which they are added under a name of their own, "chips 0" and so on,
/// if they are not there.
std::uint32_t chip_lists_id(std::vector<ChipLists>& known,
                            std::vector<std::vector<std::uint32_t>> lists);

/// Chips of each group of a collective.
std::uint32_t group_size(const CollectiveCall& call, const Mesh& mesh);

/// What a collective is over, for people: "data+model", or "groups of 4".
std::string over_text(const CollectiveCall& call, const Mesh& mesh);

}  // namespace equarx::steps
