// Lookup of the chips of a topology by name.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {

/// Schema of the name or the number of a chip.
inline constexpr std::string_view kChip = R"({"type": ["string", "integer"]})";
/// Schema of the two chips of a link.
inline constexpr std::string_view kChipPair =
    R"({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["string", "integer"]}})";

/// Maps the names of a machine's chips to their ids.
class ChipNames {
 public:
  /// `names` must be distinct.
  explicit ChipNames(std::vector<std::string> names);
  /// Uses the labels of a topology.
  explicit ChipNames(const topology::Topology& graph);

  /// Reads a link, given as an array of two chip names (a number is also a name). @throws
  /// InputError for anything else; for an unknown name it suggests the closest one.
  topology::Cable read_pair(const input::Json& value, const std::string& pointer) const;

  /// Reads one chip, given by name or number. @throws InputError like read_pair().
  topology::ChipId read_chip(const input::Json& value, const std::string& pointer) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, topology::ChipId, std::less<>> ids_;
};

}  // namespace equarx::config
