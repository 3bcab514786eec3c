#include "models/collectives/traffic.hpp"

namespace equarx::collectives {

std::array<std::uint64_t, kDirections> sent_bytes(const Program& program) {
  std::array<std::uint64_t, kDirections> bytes{};
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::send)
      bytes[static_cast<std::size_t>(program.messages[instruction.message].direction)] +=
          program.message_bytes(instruction.message);
  return bytes;
}

}  // namespace equarx::collectives
