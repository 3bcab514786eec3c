#include "sim/engines/direct/core.hpp"

#include "tests/catch.hpp"

namespace equarx::sim::core_test {
namespace {

TEST_CASE("a stream alone on a core takes its work time") {
  SharedCore core(2);
  core.begin(0, 2.0, 1.0);
  CHECK(core.busy(0));
  CHECK_FALSE(core.busy(1));
  CHECK(core.end_s(0) == 3.0);
  core.end(0, 3.0);
  CHECK_FALSE(core.busy(0));
}

TEST_CASE("two streams advance at half speed while both have work") {
  SharedCore core(2);
  core.begin(0, 2.0, 0.0);
  core.begin(1, 3.0, 1.0);      // the first has one second left
  CHECK(core.end_s(0) == 3.0);  // one second of work in two
  core.end(0, 3.0);
  CHECK(core.end_s(1) == 5.0);  // one second of its three is done
  core.begin(0, 10.0, 4.0);
  CHECK(core.end_s(1) == 6.0);
}

TEST_CASE("three streams advance at a third of the speed while all have work") {
  SharedCore core(3);
  for (std::size_t list = 0; list < 3; ++list) core.begin(list, 1.0, 0.0);
  CHECK(core.end_s(2) == 3.0);
  for (std::size_t list = 0; list < 3; ++list) core.end(list, 3.0);
  core.begin(1, 4.0, 5.0);
  CHECK(core.end_s(1) == 9.0);
}

}  // namespace
}  // namespace equarx::sim::core_test
