#include "models/collectives/server_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::server_program_test {
namespace {

using numerics::ElementFormat;

constexpr std::uint32_t kRanks = 5;
constexpr std::uint64_t kElements = 16'384;
constexpr numerics::BlockFormat kFp16{.element = ElementFormat::fp16};
constexpr numerics::BlockFormat kInt8{.element = ElementFormat::int8, .scaled = true};

Program make(const numerics::BlockFormat& format, std::optional<std::uint32_t> uploads = {},
             std::uint32_t minishards = 1, std::uint32_t microshards = 1) {
  return make_server_all_reduce(
      kRanks, kElements, ElementFormat::fp16,
      {format, format, {.minishards = minishards, .microshards = microshards}}, uploads);
}

std::uint64_t all_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t channel : total_sent_bytes(program)) bytes += channel;
  return bytes;
}

TEST_CASE("a server receives every uploaded tensor once and sends the sum to all others") {
  for (std::uint32_t uploads = 0; uploads < kRanks; ++uploads)
    for (const auto& [minishards, microshards] :
         {std::pair{1U, 1U}, std::pair{1U, 3U}, std::pair{2U, 3U}}) {
      CAPTURE(uploads, minishards, microshards);
      const Program program = make(kFp16, uploads, minishards, microshards);
      REQUIRE_NOTHROW(validate(program));
      CHECK(all_bytes(program) == 2 * kElements * (uploads + kRanks - 1));
      const auto adds = std::ranges::count(program.instructions, Op::accumulate, &Instruction::op);
      CHECK(adds == static_cast<std::ptrdiff_t>(uploads) * minishards * microshards);
    }
}

TEST_CASE("a server hears all ranks by default, also in formats with scales") {
  CHECK(all_bytes(make(kFp16)) == all_bytes(make(kFp16, kRanks - 1)));
  for (std::uint32_t uploads = 0; uploads < kRanks; ++uploads)
    CHECK_NOTHROW(validate(make(kInt8, uploads, 2, 2)));
  CHECK(all_bytes(make(kInt8)) < all_bytes(make(kFp16)));
}

TEST_CASE("a server needs other ranks, and at most those upload") {
  CHECK_THROWS_AS(make(kFp16, kRanks), std::invalid_argument);
  CHECK_THROWS_AS(make_server_all_reduce(1, kElements, ElementFormat::fp16, {kFp16, kFp16, {}}),
                  std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::server_program_test
