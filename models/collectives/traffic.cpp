#include "models/collectives/traffic.hpp"

namespace equarx::collectives {

std::array<std::uint64_t, kDirections> sent_bytes(const Program& program, Content content) {
  std::array<std::uint64_t, kDirections> bytes{};
  for (const Message& message : program.messages)
    if (program.buffers[message.buffer].content == content)
      bytes[static_cast<std::size_t>(message.direction)] += program.buffers[message.buffer].bytes;
  return bytes;
}

std::array<std::uint64_t, kDirections> sent_bytes(const Program& program) {
  auto bytes = sent_bytes(program, Content::payload);
  const auto scales = sent_bytes(program, Content::scales);
  for (std::size_t direction = 0; direction < kDirections; ++direction)
    bytes[direction] += scales[direction];
  return bytes;
}

}  // namespace equarx::collectives
