// The third reader of a program: what must cross each link direction, whatever the timing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Bytes that a rank sends over each channel.
std::vector<std::uint64_t> sent_bytes(const Program& program, Rank rank = 0);

/// The same, of one kind of content.
std::vector<std::uint64_t> sent_bytes(const Program& program, Content content, Rank rank = 0);

/// Bytes that all ranks together send over each channel.
std::vector<std::uint64_t> total_sent_bytes(const Program& program);

/// Elements that share a scale on the wire, on average over all scales that are made; none if there are no
/// scales. Small tensors leave minishards with fewer than was asked for.
std::optional<double> elements_per_scale(const Program& program);

/// Messages that `ranks` ranks receive together; a uniform program may run on fewer than it is for.
std::uint64_t total_messages(const Program& program, std::uint32_t ranks);

/// Whether all ranks run the same list.
bool is_uniform(const Program& program);

}  // namespace equarx::collectives
