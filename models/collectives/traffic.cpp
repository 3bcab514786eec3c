#include "models/collectives/traffic.hpp"

#include <algorithm>

namespace equarx::collectives {

namespace {

/// Bytes by channel of the messages of a rank that `counts` selects.
template <typename Counts>
std::vector<std::uint64_t> sent_bytes_of(const Program& program, Rank rank, const Counts& counts) {
  std::vector<std::uint64_t> bytes(program.channels.size());
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op != Op::send || !program.runs(instruction, rank)) continue;
    const Message& message = program.messages[instruction.message];
    if (counts(message)) bytes[message.channel] += program.message_bytes(instruction.message, rank);
  }
  return bytes;
}

}  // namespace

std::vector<std::uint64_t> sent_bytes(const Program& program, Content content, Rank rank) {
  return sent_bytes_of(program, rank, [&](const Message& message) {
    return program.buffers[message.buffer].content == content;
  });
}

std::vector<std::uint64_t> sent_bytes(const Program& program, Rank rank) {
  return sent_bytes_of(program, rank, [](const Message&) { return true; });
}

namespace {

std::uint64_t count(const RankRange& range, std::uint32_t ranks) {
  return std::min(range.last, ranks - 1) - range.first + std::uint64_t{1};
}

}  // namespace

std::vector<std::uint64_t> total_sent_bytes(const Program& program) {
  std::vector<std::uint64_t> bytes(program.channels.size());
  if (program.counts) {
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
      const std::vector<std::uint64_t> sent = sent_bytes(program, rank);
      for (std::size_t channel = 0; channel < bytes.size(); ++channel)
        bytes[channel] += sent[channel];
    }
    return bytes;
  }
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::send)
      bytes[program.messages[instruction.message].channel] +=
          program.message_bytes(instruction.message) * count(instruction.ranks, program.ranks());
  return bytes;
}

std::optional<double> elements_per_scale(const Program& program) {
  std::uint64_t elements = 0;
  std::uint64_t scales = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.content != Content::scales) continue;
    const std::uint64_t shared = program.partition.minishard(buffer.tile).size();
    elements += shared;
    scales += numerics::scale_count(program.format(buffer.phase), shared);
  }
  if (scales == 0) return std::nullopt;
  return static_cast<double>(elements) / static_cast<double>(scales);
}

std::uint64_t total_messages(const Program& program, std::uint32_t ranks) {
  std::uint64_t messages = 0;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op != Op::wait) continue;
    if (!program.counts) {
      messages += count(instruction.ranks, ranks);
      continue;
    }
    for (Rank rank = 0; rank < ranks; ++rank) messages += program.runs(instruction, rank) ? 1 : 0;
  }
  return messages;
}

bool is_uniform(const Program& program) {
  return !program.counts &&
         std::ranges::all_of(program.instructions, [](const Instruction& instruction) {
           return instruction.ranks == RankRange{};
         });
}

}  // namespace equarx::collectives
