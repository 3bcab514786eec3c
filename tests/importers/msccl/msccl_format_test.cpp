#include "importers/msccl/msccl_format.hpp"

#include <cmath>

#include "importers/msccl/msccl_time.hpp"
#include "importers/msccl/msccl_xml.hpp"
#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::msccl_format_test {
namespace {

using imports::MscclAccuracy;
using imports::read_message_format;
using schedules::Runtime;
using schedules::Schedule;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

MscclAccuracy error_in(const std::string& format, const Schedule& schedule = two_ranks()) {
  const imports::MscclSchedule checked = imports::read_msccl(schedules::write_msccl_xml(schedule));
  return imports::error_of(checked, Runtime(checked.schedule, kMiB), read_message_format(format));
}

TEST_CASE("encoded messages have the bytes of codes and scales") {
  // 1024 FP32 scales per slice; mxint8 has a scale byte per 32.
  CHECK(imports::encoded_bytes(read_message_format("int8"), 4 * 100'000) == 100'000 + 4 * 1024);
  CHECK(imports::encoded_bytes(read_message_format("mxint8"), 4 * 320) == 320 + 10);
  CHECK(imports::encoded_bytes(read_message_format("bf16"), 4 * 100) == 200);
}

TEST_CASE("FP32 only has summation errors, and int8 errors match its step size") {
  CHECK(error_in("fp32").metrics.mse < 1e-12);
  CHECK(error_in("fp32").ranks_identical);
  // A term and then the sum is rounded to steps of about amax / 127; half of the results see one
  // rounding of a term and none of the sum. The variance of uniform errors is step^2 / 12.
  const double term = std::pow(3.0 / 127.0, 2) / 12.0;
  const MscclAccuracy int8 = error_in("int8");
  CHECK(int8.metrics.mse > 0.2 * term);
  CHECK(int8.metrics.mse < 4.0 * term);
  CHECK_FALSE(int8.ranks_identical);  // the rank that computes a sum has it unrounded
  CHECK(int8.elements == kMiB / 2 / 4);
  CHECK(error_in("int4").metrics.mse > 100.0 * int8.metrics.mse);
}

TEST_CASE("forwarded data is not encoded again") {
  // All ranks but the one that computed a sum have the same bits.
  CHECK(error_in("mxint8", ring(8)).metrics.mse > 0.0);
  Schedule gather{.name = "gather",
                  .collective = schedules::Collective::broadcast,
                  .protocol = schedules::Protocol::simple,
                  .chunks = 1,
                  .in_place = true};
  using schedules::Op;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    schedules::ThreadBlock block;
    if (rank < 2) block.send_to = rank + 1;
    if (rank > 0) block.receive_from = rank - 1;
    block.steps = {{.op = rank == 0 ? Op::send : (rank == 1 ? Op::receive_copy_send : Op::receive),
                    .count = 1}};
    gather.ranks.push_back({.chunks = {1, 0, 0}, .blocks = {block}});
  }
  const double one = error_in("int8", gather).metrics.mse;
  gather.ranks[1].blocks[0].steps = {{.op = Op::receive, .count = 1}, {.op = Op::send, .count = 1}};
  // Encoding again gives the same codes.
  CHECK(error_in("int8", gather).metrics.mse == Approx(one).epsilon(0.01));
}

TEST_CASE("unsupported formats and unknown results are rejected") {
  CHECK_THAT(message_of([] { read_message_format("int9"); }),
             ContainsSubstring("--format: 'int9' is unknown; use one of fp32"));
  CHECK_THAT(message_of([] { read_message_format("global-qsgd-int8"); }),
             ContainsSubstring("--format: 'global-qsgd-int8' needs a scale"));
  Schedule custom = two_ranks();
  custom.collective = schedules::Collective::custom;
  CHECK_THAT(message_of([&] { error_in("int8", custom); }),
             ContainsSubstring("--format: the exact result of a custom collective is unknown"));
}

TEST_CASE("a format reduces bytes on links, but not the time of thread blocks") {
  const imports::MscclSchedule checked =
      imports::read_msccl(schedules::write_msccl_xml(two_ranks()));
  imports::MscclOptions options{.topology = "fully-connected:2", .bytes = 2 * kMiB};
  const imports::MscclTime plain = time_msccl(checked, options);
  options.format = "mxint8";
  const imports::MscclTime encoded = time_msccl(checked, options);
  CHECK(encoded.busiest_link_bytes == 2 * (kMiB / 4 + kMiB / 4 / 32));
  CHECK(plain.busiest_link_bytes == 2 * kMiB);
  CHECK(encoded.time_s == Approx(plain.time_s).epsilon(0.02));
  CHECK(encoded.error.has_value());
  CHECK_FALSE(plain.error.has_value());
}

}  // namespace
}  // namespace equarx::testing::msccl_format_test
