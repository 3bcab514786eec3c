// The chips of a topology by the names that people call them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {

/// The names of a machine's chips, and which chip each means.
class ChipNames {
 public:
  /// The names must differ.
  explicit ChipNames(std::vector<std::string> names);
  /// The labels of a topology.
  explicit ChipNames(const topology::Topology& graph);

  /// The cable between two chips, given as a list of their names (a number is also a name).
  /// @throws InputError for anything else; for an unknown name with the nearest one.
  topology::Cable read_pair(const input::Json& value, const std::string& place) const;

  /// One chip, given as its name or number. @throws InputError as read_pair().
  topology::ChipId read_chip(const input::Json& value, const std::string& place) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, topology::ChipId, std::less<>> ids_;
};

}  // namespace equarx::config
