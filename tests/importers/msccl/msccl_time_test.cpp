#include "importers/msccl/msccl_time.hpp"

#include <fstream>

#include "base/input/errors.hpp"
#include "importers/msccl/msccl_timelines.hpp"
#include "importers/msccl/msccl_xml.hpp"
#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing::msccl_time_test {
namespace {

using imports::MscclOptions;
using imports::MscclTime;
using schedules::Schedule;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
// Link rate of mi300x: 64 GB/s x 0.69999; latency of a microsecond.
constexpr double kLink = 64e9 * 0.69999;
constexpr double kLatency = 1e-6;
constexpr double kPiece = 32768.0;

/// One message from rank 0 to rank 1: a Broadcast in place.
Schedule one_message(schedules::Protocol protocol) {
  using namespace schedules;
  Schedule schedule{.name = "one",
                    .collective = Collective::broadcast,
                    .protocol = protocol,
                    .chunks = 1,
                    .in_place = true};
  schedule.ranks.resize(2);
  schedule.ranks[0] = {.chunks = {1, 0, 0},
                       .blocks = {{.send_to = 1, .steps = {{.op = Op::send, .count = 1}}}}};
  schedule.ranks[1] = {.chunks = {1, 0, 0},
                       .blocks = {{.receive_from = 0, .steps = {{.op = Op::receive, .count = 1}}}}};
  return schedule;
}

/// mi300x with this thread block rate and a kernel startup of a microsecond.
std::string chip(const TemporaryDirectory& directory, double rate) {
  const std::string path = (directory.path() / "chip.json").string();
  std::ofstream(path)
      << "{\"based_on\": \"mi300x\", \"kernel_startup\": \"1 us\", \"thread_block_rate\": \""
      << rate / 1e9 << " GB/s\"}";
  return path;
}

MscclTime time_of(const Schedule& schedule, double rate, std::uint64_t bytes,
                  const std::string& topology, std::uint64_t buffer = schedules::kSimpleBuffer) {
  const TemporaryDirectory directory;
  return time_msccl(
      imports::read_msccl(schedules::write_msccl_xml(schedule)),
      {.hardware = chip(directory, rate), .topology = topology, .bytes = bytes, .buffer = buffer});
}

TEST_CASE("a Simple receiver copies the second slice once everything is sent") {
  // The first slice is copied while the second is sent at the same rate.
  const double rate = 5e9;
  const double bytes = 2.0 * kMiB;
  const MscclTime time =
      time_of(one_message(schedules::Protocol::simple), rate, 2 * kMiB, "fully-connected:2");
  CHECK(time.time_s == Approx(1e-6 + 1.5 * bytes / rate + kPiece / kLink + kLatency).epsilon(1e-9));
  CHECK(time.busiest_link_bytes == 2 * kMiB);
  CHECK(time.lower_bound_s == Approx(bytes / kLink).epsilon(1e-12));
  CHECK(time.algorithm_bandwidth == Approx(bytes / time.time_s).epsilon(1e-12));
  CHECK(time.bus_bandwidth == time.algorithm_bandwidth);
  CHECK(time.notes.empty());
}

TEST_CASE("an LL receiver processes pieces as they arrive, with twice the bytes") {
  const double rate = 5e9;
  const MscclTime time =
      time_of(one_message(schedules::Protocol::ll), rate, 16384, "fully-connected:2");
  CHECK(time.busiest_link_bytes == 32768);
  CHECK(time.time_s == Approx(1e-6 + 2.0 * 32768 / rate + 32768 / kLink + kLatency).epsilon(1e-9));
  // Eight loops fit into the queue; each but the last is copied while the next is sent.
  const MscclTime longer =
      time_of(one_message(schedules::Protocol::ll), rate, 8 * 16384, "fully-connected:2");
  CHECK(longer.loops == 8);
  CHECK(longer.time_s ==
        Approx(1e-6 + 9.0 * 32768 / rate + 32768 / kLink + kLatency).epsilon(1e-9));
}

TEST_CASE("a fast thread block is limited by its link") {
  const MscclTime time =
      time_of(one_message(schedules::Protocol::simple), 400e9, 2 * kMiB, "fully-connected:2");
  CHECK(time.time_s ==
        Approx(1e-6 + 2.0 * kMiB / kLink + kMiB / 400e9 + kPiece / 400e9 + kLatency).epsilon(0.02));
  CHECK(time.time_s > time.lower_bound_s);
}

TEST_CASE("thread blocks of a GPU work concurrently, and wait for dependencies") {
  // The same thread block sends and copies, so its second slice has arrived when the first is
  // copied; the sum waits.
  const double rate = 10e9;
  const double half_s = 1.0 * kMiB / rate;
  const MscclTime time = time_of(two_ranks(), rate, 2 * kMiB, "fully-connected:2");
  CHECK(time.time_s == Approx(1e-6 + (2.0 + 1.0 + 2.0) * half_s).epsilon(1e-9));
}

TEST_CASE("senders wait for a full queue until flags free a slot") {
  // More LL messages than the eight a queue holds.
  const MscclTime time =
      time_of(one_message(schedules::Protocol::ll), 20e9, 32 * 16384, "fully-connected:2");
  CHECK(time.loops == 32);
  CHECK(time.busiest_link_bytes == 32 * 32768);
}

TEST_CASE("sizes that deadlock on full queues are rejected") {
  Schedule schedule = two_ranks();
  schedule.chunks = 32;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    schedule.ranks[rank].chunks = {32, 0, 16};
    for (schedules::ThreadBlock& block : schedule.ranks[rank].blocks)
      for (schedules::Step& step : block.steps) {
        step.count = 16;
        if (step.source.memory == schedules::Memory::input) step.source.chunk *= 16;
        if (step.destination.memory == schedules::Memory::input) step.destination.chunk *= 16;
      }
  }
  CHECK_NOTHROW(time_of(schedule, 20e9, 8 * kMiB, "fully-connected:2"));
  CHECK_THAT(message_of([&] { time_of(schedule, 20e9, 16 * kMiB, "fully-connected:2"); }),
             ContainsSubstring(
                 "with --bytes of 16.00 MiB: deadlocks: step 0 of thread block 0 of rank 0"));
  CHECK_NOTHROW(time_of(schedule, 20e9, 16 * kMiB, "fully-connected:2", 8 * kMiB));
}

TEST_CASE("any machine works, and assumed parameters are noted") {
  const imports::MscclSchedule checked = imports::read_msccl(schedules::write_msccl_xml(ring(8)));
  MscclOptions options{.hardware = "tpu-v5e", .topology = "4x2", .bytes = kMiB};
  const MscclTime time = time_msccl(checked, options);
  CHECK(time.notes.size() == 2);
  CHECK(time.time_s > time.lower_bound_s);
  options.topology = "ring:8";
  CHECK(time_msccl(checked, options).time_s > 0.0);
}

TEST_CASE("machines and sizes that do not fit are rejected") {
  const imports::MscclSchedule checked = imports::read_msccl(schedules::write_msccl_xml(ring(8)));
  const auto rejected = [&](const MscclOptions& options, const std::string& why) {
    CHECK_THAT(message_of([&] { time_msccl(checked, options); }), ContainsSubstring(why));
  };
  rejected({.topology = "fully-connected:4", .bytes = kMiB},
           "--topology: the schedule is for 8 GPUs, but the machine has 4");
  rejected({.topology = "", .bytes = kMiB},
           "--topology: give the machine that the schedule runs on");
  rejected({.topology = "fully-connected:8", .bytes = 36}, "use a multiple of 32");
  rejected({.topology = "fully-connected:8", .bytes = kMiB * kMiB}, "use fewer");
}

}  // namespace
}  // namespace equarx::testing::msccl_time_test
