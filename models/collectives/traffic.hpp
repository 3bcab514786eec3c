// Traffic of a program: bytes on each link direction, independent of timing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Bytes that a rank sends, by channel.
std::vector<std::uint64_t> sent_bytes(const Program& program, Rank rank = 0);

/// The same for one kind of content.
std::vector<std::uint64_t> sent_bytes(const Program& program, Content content, Rank rank = 0);

/// Bytes sent by all ranks together, by channel.
std::vector<std::uint64_t> total_sent_bytes(const Program& program);

/// Elements per scale on the wire, averaged over all scales; std::nullopt without scales.
/// Minishards of small tensors have fewer than requested.
std::optional<double> elements_per_scale(const Program& program);

/// Messages received by `ranks` ranks together; a uniform program may run on fewer ranks than it
/// was built for.
std::uint64_t total_messages(const Program& program, std::uint32_t ranks);

/// True if all ranks execute the same instruction stream, with messages of the same size.
bool is_uniform(const Program& program);

}  // namespace equarx::collectives
