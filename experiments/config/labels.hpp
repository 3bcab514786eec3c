// Labels of the compared items: collectives, or variants of a step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/object_reader.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {

/// Index of the item that "baseline" names; 0 if absent. @throws input::InputError for an unknown
/// label
template <typename Labelled>
std::size_t read_baseline(input::ObjectReader& reader, const std::vector<Labelled>& all) {
  if (!reader.has("baseline")) return 0;
  std::vector<std::string_view> labels;
  for (const Labelled& one : all) labels.push_back(one.label);
  return reader.choice("baseline", labels);
}

/// Rejects the last item if an earlier one has the same label. `list`: JSON pointer of the list.
template <typename Labelled>
void check_last_label(const std::vector<Labelled>& all, std::string_view list) {
  const std::size_t last = all.size() - 1;
  for (std::size_t other = 0; other < last; ++other)
    if (all[other].label == all[last].label)
      throw input::InputError(input::pointer(input::pointer(list, last), "label"),
                              fmt::format("'{}' is also the label of {}; give each its own",
                                          all[last].label, input::pointer(list, other)));
}

}  // namespace equarx::config
