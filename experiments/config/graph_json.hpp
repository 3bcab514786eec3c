// JSON of graph files.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Chips of the largest graph file: more than any machine has (the largest TPU pod has 9,216
/// chips), and few enough for the all-pairs computations.
inline constexpr std::uint32_t kMostGraphChips = 1 << 14;
/// Links of the largest graph file.
inline constexpr std::size_t kMostGraphLinks = std::size_t{1} << 17;

/// Reads the contents of a graph file. @throws InputError if they are invalid, for example if some
/// chips are unreachable.
GraphConfig read_graph(const input::Json& json);

/// Reads a graph file. @throws InputError at `pointer`, which names the file.
GraphConfig load_graph(const std::string& path, const std::string& pointer);

/// Schema of graph files, with annotations.
input::Json graph_schema();

}  // namespace equarx::config
