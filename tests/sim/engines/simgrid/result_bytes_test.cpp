#include "sim/engines/simgrid/result_bytes.hpp"

#include "base/exceptions/exceptions.hpp"
#include "tests/catch.hpp"

namespace equarx::sim::result_bytes_test {
namespace {

/// A result with another value in every member.
TimeResult full() {
  TimeResult result;
  result.time_s = 0.1;
  result.messages = 2;
  result.link_bytes = {3, std::uint64_t{1} << 40};
  result.link_busy_s = {0.4};
  result.core_busy_s = {0.5, 0.6, 0.7};
  result.waits = {{0.8, 0.9, 1.0}, {1.1, 1.2, 1.3}};
  result.marks_s = {1.4};
  result.failure = {.time_s = 1.5, .sender = 16, .receiver = 17, .message = 18, .link = 19};
  result.trace.core = {{20, 21, CoreWork::start_up, 2.2, 2.3},
                       {24, 25, CoreWork::start_up, 2.6, 2.7}};
  result.trace.transfers = {{28, 29, 30, 3.1, 3.2}};
  return result;
}

TEST_CASE("a result is restored from its bytes") {
  CHECK(from_bytes(to_bytes(full())) == full());
  CHECK(from_bytes(to_bytes({})) == TimeResult{});
}

TEST_CASE("a truncated result is refused") {
  const std::vector<std::byte> bytes = to_bytes(full());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    REQUIRE_THROWS_AS(from_bytes(std::span(bytes).first(size)), exceptions::InvariantError);
}

}  // namespace
}  // namespace equarx::sim::result_bytes_test
