#include "models/values/unit_traffic.hpp"

#include <numeric>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::unit_traffic_test {
namespace {

using collectives::Instruction;
using collectives::Op;
using namespace unit_rings;

std::uint64_t total(const std::vector<std::uint64_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

TEST_CASE("all bytes sent for a unit arrive, one buffer for each transfer on a ring") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 2));
  EncodedBuffers buffers(ring.geometry);
  buffers.start();
  for (const collectives::BufferId id : ring.geometry.lane().buffers)
    buffers.room(id, 0, ring.program.buffers[id].bytes);
  UnitTraffic traffic(ring.geometry, buffers);
  traffic.start();
  std::uint64_t sent = 0;
  for (const collectives::InstructionId id : ring.geometry.lane().instructions) {
    const Instruction& instruction = ring.program.instructions[id];
    if (instruction.op != Op::send && instruction.op != Op::wait) continue;
    traffic.count(instruction);
    if (instruction.op == Op::send)
      sent += ring.program.buffers[ring.program.messages[instruction.message].buffer].bytes;
  }
  CHECK(sent > 0);
  CHECK(total(traffic.sent()) == sent);
  CHECK(traffic.received() == traffic.sent());
  traffic.start();
  CHECK(total(traffic.sent()) + total(traffic.received()) == 0);
}

}  // namespace
}  // namespace equarx::values::unit_traffic_test
