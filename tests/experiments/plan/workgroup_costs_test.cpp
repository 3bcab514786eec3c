#include "experiments/plan/workgroup_costs.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan::workgroup_costs_test {
namespace {

using namespace testing;

constexpr double kStartup = 5e-6;
constexpr double kHop = 1e-6;
constexpr double kCodec = 3e-6;
constexpr double kRead = 0.5e-6;
/// Compute units of MI300X times the bytes of a tile.
constexpr std::uint64_t kRowBytes = 304 * 32 * 1024;

/// Rates without limits, so that only the times of workgroups remain.
input::Json latencies() {
  return {{"based_on", "mi300x"},
          {"link_bandwidth", "1000000 TB/s"},
          {"hbm_bandwidth", "1000000000 TB/s"},
          {"codec_rate", "1000000 TB/s"},
          {"copy_rate", "1000000 TB/s"},
          {"collective_startup", "5 us"},
          {"hop_latency", "1 us"},
          {"tile_codec_time", "3 us"},
          {"peer_read_time", "0.5 us"},
          {"dma_overhead", "0 s"},
          {"wait_overhead", "0 s"}};
}

input::Json quickreduce(input::Json hardware, std::uint32_t gpus, std::uint64_t bytes,
                        const std::string& format, const std::string& engine = "direct") {
  input::Json json = good_config();
  json["hardware"] = std::move(hardware);
  json["topology"] = {{"fully-connected", gpus}};
  json["tensor"] = {{"bytes", fmt::format("{} B", bytes)}, {"dtype", "fp16"}};
  json["collectives"] = {{{"algorithm", "quickreduce"}, {"format", format}}};
  json.erase("baseline");
  json["numerics"] = "off";
  json["engine"] = engine;
  return json;
}

double time_of(const input::Json& json) { return testing::run(json).runs.front().time_s; }

/// Four passes over a tile, two hops, and two reads of every peer.
double one_tile_s(std::uint32_t gpus) {
  return 4.0 * kCodec + 2.0 * kHop + 2.0 * (gpus - 1) * kRead;
}

TEST_CASE("a tile takes as long as one of every workgroup of the chip") {
  for (const std::uint32_t gpus : {2U, 4U, 8U})
    for (const std::uint64_t bytes : {std::uint64_t{16 * 1024}, kRowBytes, 4 * kRowBytes}) {
      CAPTURE(gpus, bytes);
      CHECK(time_of(quickreduce(latencies(), gpus, bytes, "quickreduce-int4")) ==
            Approx(kStartup + one_tile_s(gpus)).epsilon(1e-3));
    }
}

TEST_CASE("further tiles wait until a workgroup has completed its own") {
  for (const std::uint32_t waves : {2U, 3U})
    CHECK(time_of(quickreduce(latencies(), 4, waves * 4 * kRowBytes, "quickreduce-int8")) ==
          Approx(kStartup + waves * one_tile_s(4)).epsilon(1e-3));
}

TEST_CASE("plain formats have no time of a codec") {
  CHECK(time_of(quickreduce(latencies(), 4, kRowBytes, "fp16")) ==
        Approx(kStartup + 2.0 * kHop + 6.0 * kRead).epsilon(1e-3));
}

TEST_CASE("with slow compute units, time is that of the bytes that they write and read") {
  input::Json chip = latencies();
  chip["codec_rate"] = "1 GB/s";
  // Encoded for others and itself, summed, encoded for all again, and decoded. Scales are written
  // only, those of sums to three peers.
  const double bytes = kRowBytes * (4.0 * 4.0 / 16.0 + (1.0 + 3.0 / 4.0) * 2.0 / 64.0);
  CHECK(time_of(quickreduce(chip, 4, kRowBytes, "quickreduce-int4")) ==
        Approx(bytes / 1e9).epsilon(0.01));
}

TEST_CASE("a quantized small message is slower than a plain one, a large one faster") {
  for (const std::uint32_t gpus : {2U, 4U, 8U}) {
    const auto gain = [&](std::uint64_t bytes) {
      return time_of(quickreduce("mi300x", gpus, bytes, "fp16")) /
             time_of(quickreduce("mi300x", gpus, bytes, "quickreduce-int4"));
    };
    CAPTURE(gpus);
    CHECK(gain(32 * 1024) < 0.7);
    CHECK(gain(64 << 20) > 1.2);
  }
}

TEST_CASE("both engines agree on workgroups") {
  // Slots that send at the same instant do so in an unspecified order (docs/model.md).
  constexpr double kOrder = 5e-3;
  for (const std::string format : {"fp16", "quickreduce-int8"})
    for (const std::uint64_t bytes : {std::uint64_t{32 * 1024}, std::uint64_t{64 << 20}}) {
      CAPTURE(format, bytes);
      CHECK(time_of(quickreduce("mi300x", 4, bytes, format, "simgrid")) ==
            Approx(time_of(quickreduce("mi300x", 4, bytes, format))).epsilon(kOrder));
    }
}

TEST_CASE("two-shot runs in workgroups too, a ring has their rates in one stream") {
  for (const std::string algorithm : {"two-shot", "equarx"}) {
    input::Json json = quickreduce("mi300x", 4, 64 << 20, "int8");
    json["collectives"][0]["algorithm"] = algorithm;
    const double fast_s = time_of(json);
    json["hardware"] = {{"based_on", "mi300x"}, {"codec_rate", "50 GB/s"}};
    CAPTURE(algorithm);
    CHECK(time_of(json) > 1.5 * fast_s);
  }
}

TEST_CASE("parameters of workgroups are given together") {
  input::Json json =
      quickreduce({{"based_on", "a100"}, {"compute_units", 108}}, 4, 1 << 20, "fp16");
  check_refused([&] { config::read_config(json); }, "/hardware/workgroups_per_unit",
                "give all of them or none");
}

}  // namespace
}  // namespace equarx::plan::workgroup_costs_test
