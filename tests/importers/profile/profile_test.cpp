#include "importers/profile/profile.hpp"

#include "importers/profile/kineto.hpp"
#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"
#include "tests/support/errors.hpp"

namespace equarx::profile::profile_test {
namespace {

using equarx::testing::message_of;
using testing::run_of;
using testing::sum_of_two;
using testing::trace_of;

Profile rank(int number, int ranks = 2) {
  return read_kineto(
      trace_of({sum_of_two(0, 1), sum_of_two(5, 1), sum_of_two(9, -1)}, run_of(number, ranks)));
}

TEST_CASE("profiles of several ranks share calls and add up devices and notes") {
  Profile both = rank(0);
  merge(both, rank(1));
  CHECK(both.calls.size() == 1);
  CHECK(both.devices.size() == 2);
  REQUIRE(both.executions.size() == 4);
  CHECK(both.executions[3].device == 1);
  CHECK(both.notes.begin()->second == 2);
}

TEST_CASE("profiles of the same rank or of other runs are not merged") {
  Profile one = rank(0);
  CHECK_THAT(message_of([&] { merge(one, rank(0)); }),
             ContainsSubstring("is of rank 0, as is another file"));
  CHECK_THAT(message_of([&] { merge(one, rank(1, 4)); }),
             ContainsSubstring("is of a run on 4 chips, but the first file of one on 2"));
}

}  // namespace
}  // namespace equarx::profile::profile_test
