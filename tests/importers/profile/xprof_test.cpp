#include "importers/profile/xprof.hpp"

#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"
#include "tests/support/errors.hpp"

namespace equarx::profile::xprof_test {
namespace {

using Catch::Matchers::WithinRel;
using equarx::testing::message_of;
using testing::devices_of_xprof;
using testing::op;
using testing::trace_of;

constexpr const char* kSum =
    "%all-reduce.3 = bf16[512]{0} all-reduce(bf16[512]{0} %x), channel_id=1, "
    "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add";
constexpr const char* kStart =
    "%all-gather-start.1 = (bf16[8]{0}, bf16[32]{0}) all-gather-start(bf16[8]{0} %x), "
    "channel_id=2, replica_groups={{0,1,2,3}}, use_global_device_ids=true";
constexpr const char* kDone =
    "%all-gather-done.1 = bf16[32]{0} all-gather-done((bf16[8], bf16[32]) %all-gather-start.1)";
constexpr const char* kFusion = "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %y), kind=kLoop";

Profile read(const std::vector<std::string>& events) {
  std::vector<std::string> all = devices_of_xprof();
  all.insert(all.end(), events.begin(), events.end());
  return read_xprof(trace_of(all), 4);
}

TEST_CASE("collectives of a line are executions, the rest other work") {
  const Profile profile =
      read({op(0, 3, 0, 5, kSum), op(0, 3, 5, 2, kFusion), op(1, 3, 1, 4, kSum)});
  CHECK(profile.chips == 4);
  REQUIRE(profile.devices.size() == 2);
  CHECK(profile.devices[0].name == "/device:TPU:0");
  CHECK(profile.devices[0].other.size() == 1);
  CHECK(profile.calls.size() == 1);
  REQUIRE(profile.executions.size() == 2);
  CHECK_THAT(profile.executions[1].span.duration_s, WithinRel(4e-6, 1e-12));
  CHECK(profile.notes.empty());
}

TEST_CASE("asynchronous collectives last from the begin of the start to the end of the done") {
  const Profile profile = read({op(0, 3, 10, 1, kStart), op(0, 3, 11, 20, kFusion),
                                op(0, 3, 31, 4, kDone), op(1, 3, 10, 1, kStart)});
  REQUIRE(profile.executions.size() == 1);
  CHECK_THAT(profile.executions[0].span.duration_s, WithinRel(25e-6, 1e-9));
  CHECK(profile.calls[0].kind == "all-gather");
  CHECK(profile.notes == Notes{{"asynchronous collectives without an end are not used", 1}});
  CHECK(read({op(0, 3, 0, 5, kSum), op(0, 3, 31, 4, kDone)}).notes ==
        Notes{{"asynchronous collectives without a start are not used", 1}});
}

TEST_CASE("a line of asynchronous operations has their times") {
  const Profile profile = read({op(0, 3, 10, 1, kStart), op(0, 4, 10, 17, kStart),
                                op(0, 3, 11, 20, kFusion), op(0, 3, 31, 4, kDone)});
  REQUIRE(profile.executions.size() == 1);
  CHECK_THAT(profile.executions[0].span.duration_s, WithinRel(17e-6, 1e-12));
}

TEST_CASE("loops are not work of their own, and device durations are exact") {
  const Profile profile =
      read({op(0, 3, 0, 100, "%while.1 = (s32[]) while((s32[]) %t), body=%b"),
            op(0, 3, 0, 60, kSum), op(0, 3, 60, 40, kFusion),
            R"({"ph": "X", "pid": 3, "tid": 3, "ts": 200, "dur": 1, "name": "all-reduce.3",
           "args": {"device_duration_ps": "1234567", "long_name": ")" +
                std::string(kSum) + R"("}})"});
  CHECK(profile.devices[0].other.size() == 1);
  REQUIRE(profile.executions.size() == 2);
  CHECK_THAT(profile.executions[1].span.duration_s, WithinRel(1.234567e-6, 1e-12));
}

TEST_CASE("collectives in fusions and without readable text are noted") {
  const Profile profile =
      read({op(0, 3, 0, 5, kSum),
            op(0, 3, 5, 5, "%all-reduce-scatter.4 = f32[8] fusion(%x), kind=kCustom"),
            op(0, 3, 10, 5, "%all-gather.4 = f32[8] all-gath"), op(0, 3, 15, -1, kSum)});
  CHECK(profile.devices[0].communication.size() == 3);
  CHECK(
      profile.notes ==
      Notes{{"all-gather has no HLO text of a collective, as in fusions: only its time is used", 1},
            {"all-reduce-scatter has no HLO text of a collective, as in fusions: only its time is "
             "used",
             1},
            {"events without a valid start and duration are not used", 1}});
}

TEST_CASE("events without a display name have their HLO text as name") {
  const Profile profile = read({R"({"ph": "X", "pid": 3, "tid": 3, "ts": 0, "dur": 5, "name": ")" +
                                std::string(kSum) + R"("})"});
  CHECK(profile.calls.at(0).name == "all-reduce.3");
}

TEST_CASE("full files are noted") {
  std::vector<std::string> events(1'000'000, "{}");
  events.push_back(op(0, 3, 0, 5, kSum));
  CHECK(read(events).notes == Notes{{"files of the trace viewer end after 1000000 events: later "
                                     "ones are missing",
                                     1}});
}

TEST_CASE("traces without collectives are refused with a remedy") {
  CHECK_THAT(message_of([] { read({op(0, 3, 0, 5, kFusion)}); }),
             ContainsSubstring("has no collective with HLO text (\"long_name\")"));
  CHECK_THAT(message_of([] { read_xprof(trace_of({op(0, 3, 0, 5, kSum)}), 4); }),
             ContainsSubstring("has no line \"XLA Ops\" of a device"));
}

}  // namespace
}  // namespace equarx::profile::xprof_test
