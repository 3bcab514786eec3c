// AllReduce up a binomial tree and down again.
#pragma once

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// "Binomial tree": along the first axis the ranks at place 1 send all that they have to those at place 0, which add it;
/// then half of these to the other half along the second axis, and so on. Rank 0 has the sum in the end, and it goes back
/// the same way. Sums are rounded to the format at every hop. Global-QSGD's AllReduce (sands-lab/global-qsgd,
/// gqsgd/allreduce.py), but for the numbers of ranks: its root is the last one, and its pairs are neighbours first.
/// @param grid all of its axes are of length 2
/// @throws std::invalid_argument if one is not, or there is none; for a format with scales
Program make_binomial_tree(const RankGrid& grid, std::uint64_t elements,
                           numerics::ElementFormat tensor_format, const ExchangeOptions& options);

}  // namespace equarx::collectives
