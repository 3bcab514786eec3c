#include "experiments/config/chip_names.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {
namespace {

std::vector<std::string> labels_of(const topology::Topology& graph) {
  std::vector<std::string> labels;
  for (topology::ChipId id = 0; id < graph.node_count(); ++id) labels.push_back(graph.label(id));
  return labels;
}

}  // namespace

ChipNames::ChipNames(const topology::Topology& graph) : ChipNames(labels_of(graph)) {}

ChipNames::ChipNames(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    ids_.emplace(names_[i], static_cast<topology::ChipId>(i));
}

topology::Cable ChipNames::read_pair(const input::Json& value, const std::string& pointer) const {
  if (!value.is_array() || value.size() != 2)
    throw input::InputError(pointer,
                            fmt::format("expected the names of two chips, like [\"{}\", \"{}\"]",
                                        names_.front(), names_.back()));
  return {read_chip(value[0], input::pointer(pointer, 0)),
          read_chip(value[1], input::pointer(pointer, 1))};
}

topology::ChipId ChipNames::read_chip(const input::Json& value, const std::string& pointer) const {
  if (!value.is_string() && !value.is_number_integer())
    throw input::InputError(
        pointer, fmt::format("expected the name of a chip, found {}", input::kind_of(value)));
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const std::vector<std::string_view> views(names_.begin(), names_.end());
  const auto meant = input::near(name, views);
  throw input::InputError(
      pointer, fmt::format("there is no chip '{}'; {}", name,
                           meant ? fmt::format("did you mean '{}'?", *meant)
                                 : fmt::format("its {} chips are '{}' to '{}'", names_.size(),
                                               names_.front(), names_.back())));
}

}  // namespace equarx::config
