#include "experiments/trace/step_tasks.hpp"

#include <sstream>

#include "tests/catch.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::trace::step_tasks_test {
namespace {

TEST_CASE("a trace has a track per stream and a slice per task") {
  std::ostringstream out;
  write_tasks(testing::run_step(testing::good_step()), out);
  const input::Json trace = input::Json::parse(out.str());
  std::size_t slices = 0;
  std::size_t tracks = 0;
  for (const input::Json& event : trace["traceEvents"]) {
    slices += event["ph"] == "X" ? 1 : 0;
    tracks += event["name"] == "thread_name" ? 1 : 0;
  }
  CHECK(slices == 20);
  CHECK(tracks == 6);
}

}  // namespace
}  // namespace equarx::trace::step_tasks_test
