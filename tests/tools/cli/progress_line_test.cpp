#include "tools/cli/progress_line.hpp"

#include "tests/catch.hpp"
#include "tools/cli/sweep_progress.hpp"

namespace equarx::cli::progress_line_test {
namespace {

TEST_CASE("the remaining time is extrapolated from the completed fraction") {
  CHECK(progress_text("a", 0.0, 5.0) == "a: 0 %");  // no estimate yet
  CHECK(progress_text("a", 0.25, 5.0) == "a: 25 %, 15 s left");
  CHECK(progress_text("a", 0.999, 5.0) == "a: 99 %, 1 s left");
  CHECK(progress_text("a", 1.5, 5.0) == "a: 100 %, 0 s left");
  CHECK(progress_text("a", 0.01, 60.0) == "a: 1 %, 1 h 39 min left");
}

TEST_CASE("sweep progress has points, failures, rate and remaining time") {
  CHECK(progress_text({.points = 10,
                       .done = 4,
                       .computed = 2,
                       .failed = 1,
                       .done_share = 0.159,
                       .left_s = 75.0},
                      4.0) == "4 of 10 points (15 %), 1 failed, 0.5 per second, 1 min 15 s left");
  CHECK(progress_text({.points = 10, .done = 4, .done_share = 0.4}, 4.0) ==
        "4 of 10 points (40 %)");
  CHECK(progress_text({}, 0.0) == "0 of 0 points (100 %)");
  CHECK(progress_text({.points = 8, .done = 8, .computed = 8, .left_s = 0.0}, 4.0) ==
        "8 of 8 points (100 %), 2 per second, 0 s left");
}

TEST_CASE("sweep progress counts points that do not fit apart from failures") {
  CHECK(progress_text({.points = 10, .done = 4, .does_not_fit = 3, .done_share = 0.4}, 4.0) ==
        "4 of 10 points (40 %), 3 do not fit");
  CHECK(progress_text({.points = 10, .done = 4, .does_not_fit = 1, .failed = 2, .done_share = 0.4},
                      4.0) == "4 of 10 points (40 %), 1 does not fit, 2 failed");
}

TEST_CASE("durations are rounded up") {
  CHECK(duration_text(0.2) == "1 s");
  CHECK(duration_text(60.0) == "1 min 00 s");
  CHECK(duration_text(3725.0) == "1 h 02 min");
}

}  // namespace
}  // namespace equarx::cli::progress_line_test
