#include "importers/msccl/runtime.hpp"

#include <numeric>

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::runtime_test {
namespace {

using namespace schedules;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Schedule with_chunks(std::uint32_t chunks, Protocol protocol) {
  Schedule schedule = two_ranks();
  schedule.chunks = chunks;
  schedule.protocol = protocol;
  return schedule;
}

TEST_CASE("Simple sends half a buffer per message and queues two") {
  // 16 MiB in 64 chunks of 256 KiB: eight fill half of 4 MiB.
  const Runtime runtime(with_chunks(64, Protocol::simple), 16 * kMiB);
  CHECK(runtime.chunk_bytes() == kMiB / 4);
  CHECK(runtime.cut().loops == 1);
  CHECK(runtime.cut().chunks_at_once == 8);
  CHECK(runtime.cut().room == 2);
  CHECK(runtime.message_chunks(20, 2) == 4);
  CHECK(runtime.wire_bytes(100) == 100);
  CHECK(Runtime(with_chunks(64, Protocol::simple), 16 * kMiB, 8 * kMiB).cut().chunks_at_once == 16);
}

TEST_CASE("chunks larger than a message take several loops") {
  const Runtime runtime(with_chunks(2, Protocol::simple), 10 * kMiB);
  CHECK(runtime.cut().loops == 3);
  CHECK(runtime.cut().chunks_at_once == 1);
  CHECK(runtime.loop_bytes(0) == 2 * kMiB);
  CHECK(runtime.loop_bytes(2) == kMiB);
}

TEST_CASE("the runtime limits the chunks per message") {
  CHECK(Runtime(with_chunks(256, Protocol::simple), 1024).cut().chunks_at_once == 71);
}

TEST_CASE("messages of Simple have two slices of a minimum size") {
  const Runtime runtime(with_chunks(64, Protocol::simple), 16 * kMiB);
  CHECK(runtime.slices(2 * kMiB) == std::vector<std::uint64_t>{kMiB, kMiB});
  CHECK(runtime.slices(40000) == std::vector<std::uint64_t>{32768, 7232});
  CHECK(runtime.slices(1000) == std::vector<std::uint64_t>{1000});
  const auto odd = runtime.slices(1'000'004);
  CHECK(odd.size() == 2);
  CHECK(odd[0] % 64 == 0);
  CHECK(std::accumulate(odd.begin(), odd.end(), std::uint64_t{0}) == 1'000'004);
}

TEST_CASE("LL sends 8 lines for each of 256 threads, half of it flags, and LL128 28 words") {
  const Runtime ll(with_chunks(2, Protocol::ll), kMiB);
  CHECK(ll.cut().loops == 32);
  CHECK(ll.cut().room == 8);
  CHECK(ll.has_flags());
  CHECK(ll.wire_bytes(16384) == 32768);
  CHECK(ll.slices(16384) == std::vector<std::uint64_t>{16384});
  const Runtime ll128(with_chunks(2, Protocol::ll128), kMiB);
  CHECK(ll128.loop_bytes(0) == 53760);
  CHECK(ll128.wire_bytes(53760) == 57344);
}

TEST_CASE("indivisible sizes and too many loops are refused") {
  const auto refused = [](std::uint64_t bytes) {
    return refusal([&] { Runtime(with_chunks(3, Protocol::ll), bytes); });
  };
  CHECK_THAT(refused(100), ContainsSubstring("use a multiple of 12"));
  CHECK_THAT(refused(0), ContainsSubstring("use a multiple of 12"));
  CHECK_THAT(refused(12 * kMiB * 4096), ContainsSubstring("but MSCCL runs at most 65536"));
}

}  // namespace
}  // namespace equarx::testing::runtime_test
