// The one place where graph files meet JSON.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Chips and cables of the largest graph file: above any machine (the largest TPU pod has 9,216
/// chips), and few enough for everything that is computed from all of them.
inline constexpr std::uint32_t kMostGraphChips = 1 << 14;
/// Links of the largest graph file.
inline constexpr std::size_t kMostGraphLinks = std::size_t{1} << 17;

/// Reads the contents of a graph file. @throws InputError for anything that is not right, such as
/// chips that cannot reach each other.
GraphConfig read_graph(const input::Json& json);

/// Reads a graph file. @throws InputError at `place`, which names the file.
GraphConfig load_graph(const std::string& path, const std::string& place);

}  // namespace equarx::config
