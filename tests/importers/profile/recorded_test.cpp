#include "importers/profile/recorded.hpp"

#include "tests/catch.hpp"

namespace equarx::profile::recorded_test {
namespace {

using Catch::Matchers::WithinAbs;

Call sum(imports::DeviceGroups groups, double bytes = 64.0) {
  return {.name = "allreduce",
          .sequence = "tp",
          .kind = "all-reduce",
          .type = "Float",
          .bytes = bytes,
          .collective = collectives::Collective::all_reduce,
          .chips = 2,
          .groups = std::move(groups)};
}

TEST_CASE("executions have a median, a minimum and a maximum") {
  Profile profile{.calls = {sum({{0, 1}})}, .devices = {{.name = "rank 0"}}};
  for (const double duration : {5.0, 1.0, 2.0}) profile.executions.push_back({0, 0, {0, duration}});
  const auto odd = recorded(profile);
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].times == 3);
  CHECK(odd[0].median_s == 2.0);
  CHECK(odd[0].min_s == 1.0);
  CHECK(odd[0].max_s == 5.0);
  profile.executions.push_back({0, 0, {0, 3.0}});
  CHECK(recorded(profile)[0].median_s == 2.5);
}

TEST_CASE("executions on several chips are matched in order, and the shortest counts") {
  Profile profile{.calls = {sum({{0, 1}})}, .devices = {{.name = "0"}, {.name = "1"}}};
  profile.executions = {{0, 0, {10, 7}}, {0, 0, {0, 1}}, {0, 1, {3, 2}}, {0, 1, {12, 4}}};
  const auto rows = recorded(profile);
  CHECK(rows[0].times == 2);
  CHECK(rows[0].min_s == 1.0);  // 1 and 2
  CHECK(rows[0].max_s == 4.0);  // 7 and 4
  CHECK(profile.notes.empty());
  profile.executions.pop_back();
  CHECK(recorded(profile)[0].times == 3);
  CHECK(profile.notes.begin()->first ==
        "executions of allreduce differ in number between chips and are not matched");
}

TEST_CASE("rows have equal kind, size and completed groups, the longest total first") {
  Profile profile{.calls = {sum({{0, 1}}), sum({{2, 3}}), sum({{0, 1}}, 128.0)},
                  .devices = {{.name = "0"}}};
  profile.executions = {{0, 0, {0, 1}}, {1, 0, {2, 3}}, {2, 0, {6, 9}}};
  complete_groups(profile, 4);
  CHECK(profile.notes.empty());
  const auto rows = recorded(profile);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].call.bytes == 128.0);
  CHECK(rows[1].times == 2);
  CHECK(rows[1].call.groups == imports::DeviceGroups{{0, 1}, {2, 3}});
}

TEST_CASE("a group without translations stays alone, with a note") {
  Profile profile{.calls = {sum({{0, 1}})}};
  complete_groups(profile, 3);
  CHECK(profile.calls[0].groups == imports::DeviceGroups{{0, 1}});
  CHECK(profile.notes.begin()->first ==
        "the group of allreduce of 'tp' has no translations that divide the 3 chips: simulated "
        "with the others idle");
}

TEST_CASE("communication is exposed where no other kernel of the chip runs") {
  Profile profile;
  // Communication 0 to 6 and 10 to 12; other work 2 to 3, 5 to 11.
  profile.devices = {
      {.name = "0", .communication = {{10, 2}, {0, 4}, {3, 3}}, .other = {{5, 6}, {2, 1}}},
      {.name = "1", .communication = {{100, 4}}, .other = {}}};
  const Communication of = communication(profile);
  CHECK_THAT(of.span_s, WithinAbs((12.0 + 4.0) / 2, 1e-12));
  CHECK_THAT(of.running_s, WithinAbs((8.0 + 4.0) / 2, 1e-12));
  CHECK_THAT(of.exposed_s, WithinAbs((5.0 + 4.0) / 2, 1e-12));  // 8 - 1 - 1 - 1
}

}  // namespace
}  // namespace equarx::profile::recorded_test
