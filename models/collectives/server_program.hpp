// AllReduce through a server.
#pragma once

#include <cstdint>
#include <optional>

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// "Server": the other ranks send their whole tensors to rank 0, which adds them to its own in the
/// order of ranks, in FP32, and sends the sum to all. Terms and sum are encoded once.
/// @param uploads ranks that send theirs, for the time of a step in which the others send nothing
/// (lazy aggregation): ranks 1 to `uploads`, or all if absent
/// @throws std::invalid_argument if there are fewer than two ranks, more uploads than other ranks, or
/// more parts than elements
Program make_server_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                               numerics::ElementFormat tensor_format,
                               const ExchangeOptions& options,
                               std::optional<std::uint32_t> uploads = std::nullopt);

}  // namespace equarx::collectives
