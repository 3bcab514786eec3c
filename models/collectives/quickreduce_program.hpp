// The AllReduce of QuickReduce (mk1-project/quickreduce, csrc/core/allreduce.h, AllReduceTwoshot).
#pragma once

#include <cstdint>

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// Two-shot, minishard by minishard: every rank encodes its part of each shard, including its own,
/// and sends it to the owner, which sums all in the order of ranks, encodes the sum and sends it to
/// all. While some minishards are in flight, the next ones are encoded, as by the GPU's workgroups.
/// With rows of tiles, each minishard is a row, which a workgroup of every compute unit carries from
/// the input to the result before its next; the workgroups of a unit are streams of the program.
/// Terms of a plain format are added in that format, as the original's FP16 terms are.
/// @throws std::invalid_argument if there are fewer than two ranks, or more parts than elements.
Program make_quickreduce(std::uint32_t ranks, std::uint64_t elements,
                         numerics::ElementFormat tensor_format, const ExchangeOptions& options);

}  // namespace equarx::collectives
