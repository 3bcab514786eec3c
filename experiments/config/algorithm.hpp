// Algorithms of collectives, as configurations name them.
#pragma once

#include <string_view>
#include <vector>

#include "models/collectives/algorithm.hpp"

namespace equarx::config {

using collectives::Algorithm;

/// "auto": the fastest of the algorithms that can run. Not a row of the algorithm table.
inline constexpr Algorithm kAutomatic = nullptr;

/// Name in configurations: "halving-doubling", or "auto".
std::string_view algorithm_name(Algorithm algorithm);

/// Algorithms that implement a collective, in the table's order; without kAutomatic.
std::vector<Algorithm> algorithms_of(collectives::Collective collective);

/// The algorithms that "auto" and `tune` try: without published implementations and, unless a
/// network joins slices, without algorithms for slices.
std::vector<Algorithm> tried_algorithms(collectives::Collective collective,
                                        bool with_network = true);

// kAutomatic can do whatever any algorithm can.

/// True if the algorithm supports both ring styles.
bool has_ring_style(Algorithm algorithm);

/// True if its AllReduce is a ReduceScatter followed by an AllGather; one of them may stay
/// unquantized.
bool has_two_phases(Algorithm algorithm);

/// True if it can run with scaled formats.
bool can_be_quantized(Algorithm algorithm);
/// True if it can run with formats without scales.
bool can_be_plain(Algorithm algorithm);

/// True if it can run with this format.
bool fits_format(Algorithm algorithm, const numerics::BlockFormat& format);

}  // namespace equarx::config
