// AllToAlls with row counts against a scalar oracle, bit by bit, and against those without.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/hierarchical_all_to_all.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/with_counts.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"
#include "tests/support/scalar_exchange.hpp"

namespace equarx::value_executor_row_counts_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {

constexpr std::uint32_t kRowElements = 96;
constexpr std::uint32_t kMinishards = 3;

struct Case {
  std::string name;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> rows;  ///< by sender x ranks + receiver
};

/// Counts that differ, with empty pairs, silent senders and a single pair.
std::vector<Case> cases() {
  std::vector<Case> all = {{"two", 2, {3, 5, 0, 1}},
                           {"one pair", 3, {0, 0, 0, 0, 0, 7, 0, 0, 0}},
                           {"a silent rank", 3, {1, 2, 3, 0, 0, 0, 9, 4, 0}}};
  Case many{"many", 5, {}};
  for (std::uint32_t pair = 0; pair < 25; ++pair) many.rows.push_back(pair * 7 % 11);
  all.push_back(std::move(many));
  return all;
}

Program program_of(const Case& one, const BlockFormat& format, std::uint32_t microshards = 2) {
  const std::uint32_t most = std::ranges::max(one.rows);
  const ExchangeOptions options{.reduce_scatter = format,
                                .all_gather = format,
                                .cut = {.minishards = kMinishards, .microshards = microshards}};
  return with_counts(make_direct_exchange(Collective::all_to_all, one.ranks,
                                          std::uint64_t{one.ranks} * most * kRowElements,
                                          ElementFormat::bf16, options),
                     {kRowElements, one.rows});
}

/// Nodes of two ranks where their number is even.
Program in_two_hops(const Case& one, const BlockFormat& format, FirstHop first) {
  const std::uint32_t most = std::ranges::max(one.rows);
  const ExchangeOptions options{.reduce_scatter = format,
                                .all_gather = {},
                                .cut = {.minishards = kMinishards, .microshards = 2}};
  return make_hierarchical_all_to_all(RankGrid({one.ranks / 2, 2}),
                                      std::uint64_t{one.ranks} * most * kRowElements,
                                      ElementFormat::bf16, options, first);
}

std::vector<BlockFormat> formats() {
  return {plain(ElementFormat::bf16), plain(ElementFormat::fp8_e4m3), int8_strided(),
          int8_blocks(32)};
}

/// Values that rank `to` gets from rank `from`: whole minishards of the shard, cut to the rows.
std::vector<float> scalar_pair(const TensorSource& source, const Case& one, Rank from, Rank to,
                               const BlockFormat& format) {
  const std::uint64_t shard = source.elements() / one.ranks;
  std::vector<float> values(std::uint64_t{one.rows[from * one.ranks + to]} * kRowElements);
  source.read(from, to * shard, values);
  if (from == to) return values;
  std::vector<float> moved;
  for (std::uint32_t i = 0; i < kMinishards; ++i) {
    const Range range = split({0, shard}, kMinishards, i);
    const std::uint64_t end = std::min<std::uint64_t>(range.end, values.size());
    if (end <= range.begin) break;
    const auto first = values.begin();
    const std::vector<float> part =
        through_wire(format, {first + static_cast<std::ptrdiff_t>(range.begin),
                              first + static_cast<std::ptrdiff_t>(end)});
    moved.insert(moved.end(), part.begin(), part.end());
  }
  round_to_tensor(source.format(), moved);
  return moved;
}

TEST_CASE("row counts move the oracle's bits, and only rows that exist") {
  for (const Case& one : cases())
    for (const BlockFormat& format : formats())
      for (const std::uint32_t microshards : {1U, 2U}) {
        CAPTURE(one.name, numerics::name(format.element), format.scaled, microshards);
        const Program program = program_of(one, format, microshards);
        const TensorSource source(numerics::InputSpec{}, program.partition.elements(),
                                  ElementFormat::bf16);
        ResultTensor result(result_elements(program), source.format());
        const ValueResult values = execute(program, source, {.threads = 2, .result = &result});
        CHECK(values.computed_elements ==
              std::accumulate(one.rows.begin(), one.rows.end(), std::uint64_t{0}) * kRowElements);
        CHECK(values.sampled_fraction == 1.0);
        CHECK(values.sent_bytes == total_sent_bytes(program));
        CHECK(values.received_bytes == values.sent_bytes);
        const std::uint64_t shard = source.elements() / one.ranks;
        for (Rank from = 0; from < one.ranks; ++from)
          for (Rank to = 0; to < one.ranks; ++to) {
            const std::vector<float> wanted = scalar_pair(source, one, from, to, format);
            std::vector<float> got(wanted.size());
            result.read(from * source.elements() + to * shard, got);
            REQUIRE(got == wanted);
          }
      }
}

TEST_CASE("equal row counts are an AllToAll") {
  constexpr std::uint32_t kRanks = 4;
  const Case equal{"equal", kRanks, std::vector<std::uint32_t>(16, 5)};
  for (const BlockFormat& format : formats()) {
    const Program program = program_of(equal, format);
    Program whole = program;
    whole.counts.reset();
    CHECK(total_sent_bytes(program) == total_sent_bytes(whole));
    CHECK(total_messages(program, kRanks) == total_messages(whole, kRanks));
    const TensorSource source(numerics::InputSpec{}, program.partition.elements(),
                              ElementFormat::bf16);
    const ValueResult counted = execute(program, source, {});
    const ValueResult plain = execute(whole, source, {});
    CHECK(counted.against_exact.mse == plain.against_exact.mse);
    CHECK(counted.sent_bytes == plain.sent_bytes);
    CHECK(counted.quantized.elements == plain.quantized.elements);
  }
}

TEST_CASE("two hops move the bits of one") {
  Case eight{"eight", 8, {}};
  for (std::uint32_t pair = 0; pair < 64; ++pair) eight.rows.push_back(pair * 5 % 13);
  for (const BlockFormat& format : formats())
    for (const FirstHop first : {FirstHop::between, FirstHop::within})
      for (const bool counted : {false, true}) {
        CAPTURE(numerics::name(format.element), format.scaled, counted);
        Program one_hop = program_of(eight, format);
        Program two_hops =
            with_counts(in_two_hops(eight, format, first), {kRowElements, eight.rows});
        if (!counted) one_hop.counts.reset(), two_hops.counts.reset();
        const TensorSource source(numerics::InputSpec{}, one_hop.partition.elements(),
                                  ElementFormat::bf16);
        ResultTensor direct(result_elements(one_hop), source.format());
        ResultTensor forwarded(result_elements(one_hop), source.format());
        execute(one_hop, source, {.result = &direct});
        const ValueResult values = execute(two_hops, source, {.threads = 2, .result = &forwarded});
        CHECK(values.sent_bytes == total_sent_bytes(two_hops));
        CHECK(values.received_bytes == values.sent_bytes);
        std::vector<float> wanted(direct.elements());
        std::vector<float> got(direct.elements());
        direct.read(0, wanted);
        forwarded.read(0, got);
        CHECK(got == wanted);
      }
}

TEST_CASE("bytes of a sender are those of its rows") {
  const Case one = cases()[3];
  const Program program = program_of(one, plain(ElementFormat::bf16));
  for (Rank from = 0; from < one.ranks; ++from) {
    std::uint64_t bytes = 0;
    for (const std::uint64_t channel : sent_bytes(program, from)) bytes += channel;
    std::uint64_t rows = 0;
    for (Rank to = 0; to < one.ranks; ++to)
      if (to != from) rows += one.rows[from * one.ranks + to];
    CHECK(bytes == rows * kRowElements * 2);
  }
}

}  // namespace
}  // namespace equarx::value_executor_row_counts_test
