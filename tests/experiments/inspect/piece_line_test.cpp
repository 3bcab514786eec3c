#include "experiments/inspect/piece_line.hpp"

#include <atomic>
#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::inspect::piece_line_test {
namespace {

TEST_CASE("pieces are taken in order, with any number of threads and slots, or none") {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::uint64_t pieces : {0U, 1U, 2U, 3U, 500U}) {
      std::vector<std::uint64_t> slots(PieceLine::slots(threads));
      PieceLine line(pieces, threads,
                     [&](std::uint64_t piece, std::size_t slot) { slots[slot] = piece; });
      for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        // A taken slot must not change while the threads go on.
        const std::uint64_t& taken = slots[line.take()];
        REQUIRE(taken == piece);
        std::this_thread::yield();
        REQUIRE(taken == piece);
      }
    }
  }
}

TEST_CASE("no more pieces are started than slots exist") {
  std::atomic<std::uint64_t> begun = 0;
  {
    PieceLine line(100, 2, [&](std::uint64_t, std::size_t) { ++begun; });
    line.take();
    line.take();
  }  // drops the others
  REQUIRE(begun >= 2);
  REQUIRE(begun <= 1 + PieceLine::slots(2));
}

TEST_CASE("take() rethrows the exception of a piece") {
  PieceLine line(10, 2, [](std::uint64_t piece, std::size_t) {
    if (piece == 3) throw std::runtime_error("piece 3");
  });
  const auto take_all = [&] {
    for (int piece = 0; piece < 10; ++piece) line.take();
  };
  REQUIRE_THROWS_WITH(take_all(), "piece 3");
}

}  // namespace
}  // namespace equarx::inspect::piece_line_test
