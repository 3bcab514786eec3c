// Labels of what a configuration compares: its collectives, or the variants of its step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Index of what "baseline" names; the first without the key. @throws input::InputError for a label that is nobody's
template <typename Labelled>
std::size_t read_baseline(input::ObjectReader& reader, const std::vector<Labelled>& all) {
  if (!reader.has("baseline")) return 0;
  std::vector<std::string_view> labels;
  for (const Labelled& one : all) labels.push_back(one.label);
  return reader.choice("baseline", labels);
}

/// Refuses the label of the last if one before it has the same. `list`: their JSON pointer.
template <typename Labelled>
void check_last_label(const std::vector<Labelled>& all, std::string_view list) {
  const std::size_t last = all.size() - 1;
  for (std::size_t other = 0; other < last; ++other)
    if (all[other].label == all[last].label)
      throw input::InputError(fmt::format("{}/{}/label", list, last),
                              fmt::format("'{}' is also the label of {}/{}; give each its own",
                                          all[last].label, list, other));
}

}  // namespace equarx::config
