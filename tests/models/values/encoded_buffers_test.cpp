#include "models/values/encoded_buffers.hpp"

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::encoded_buffers_test {
namespace {

using namespace unit_rings;

TEST_CASE("each buffer of a lane has memory of its size") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 2));
  EncodedBuffers buffers(ring.geometry);
  buffers.start();
  for (const collectives::BufferId id : ring.geometry.lane().buffers) {
    buffers.room(id, 0, ring.program.buffers[id].bytes)[0] = static_cast<std::byte>(id);
    CHECK(buffers.at(id, 0).bytes.size() == ring.program.buffers[id].bytes);
  }
  for (const collectives::BufferId id : ring.geometry.lane().buffers)
    CHECK(buffers.at(id, 0).bytes[0] == static_cast<std::byte>(id));
}

}  // namespace
}  // namespace equarx::values::encoded_buffers_test
