// The algorithm of a collective, as a configuration names it.
#pragma once

#include <string_view>
#include <vector>

#include "models/collectives/algorithm.hpp"

namespace equarx::config {

using collectives::Algorithm;

/// "auto": the fastest of the algorithms that can run. It is no row of the table.
inline constexpr Algorithm kAutomatic = nullptr;

/// "halving-doubling", or "auto".
std::string_view algorithm_name(Algorithm algorithm);

/// Algorithms that do a collective, in the table's order; without kAutomatic.
std::vector<Algorithm> algorithms_of(collectives::Collective collective);

/// Those of them that are tried where none is named, by "auto" and `tune`: not what somebody published as it is, nor,
/// unless a network joins slices, what is for these.
std::vector<Algorithm> tried_algorithms(collectives::Collective collective,
                                        bool with_network = true);

// What kAutomatic can do, some algorithm can.

/// Whether it can go round in either of two ring styles.
bool has_ring_style(Algorithm algorithm);

/// Whether an AllReduce by it is a ReduceScatter and an AllGather, of which one may stay plain.
bool has_two_phases(Algorithm algorithm);

/// Whether it can run with formats that have scales, and with those that have none.
bool can_be_quantized(collectives::Collective collective, Algorithm algorithm);
/// Whether it can run with formats that have no scales.
bool can_be_plain(Algorithm algorithm);

/// Whether it can run the collective with this format.
bool fits_format(Algorithm algorithm, collectives::Collective collective,
                 const numerics::BlockFormat& format);

}  // namespace equarx::config
