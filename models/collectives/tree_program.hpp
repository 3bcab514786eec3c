// AllReduce up a binomial tree and down again.
#pragma once

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// "Binomial tree": along the first axis, the ranks at coordinate 1 send their whole tensors to the
/// ranks at coordinate 0, which add them; then half of these send to the other half along the
/// second axis, and so on. Rank 0 ends with the sum, which returns along the same edges. Sums are
/// rounded to the format at every hop. Global-QSGD's AllReduce (sands-lab/global-qsgd,
/// gqsgd/allreduce.py) except for the numbering of ranks: its root is the last one, and its pairs
/// are neighbours first.
/// @param grid all axes must have length 2
/// @throws std::invalid_argument if an axis has another length, there is no axis, or a format has
/// scales
Program make_binomial_tree(const RankGrid& grid, std::uint64_t elements,
                           numerics::ElementFormat tensor_format, const ExchangeOptions& options);

}  // namespace equarx::collectives
