// Promises of every algorithm, in many formats and on 2 to 16 ranks, against what values show.
#include "experiments/contract/promises.hpp"

#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/plan/programs.hpp"
#include "experiments/run/source.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::testing::promises_test {
namespace {

using contract::Promise;

constexpr std::uint64_t kElements = 1031;  // a prime, so that nothing divides it
const std::vector<std::string> kFormats = {"bf16",       "int8",  "fp8-e4m3", "int4",
                                           "mxfp8-e4m3", "mxfp4", "nvfp4",    "mxint8"};
const std::vector<std::string> kArithmetics = {R"({})",
                                               R"({"round": "once"})",
                                               R"({"round": "rank"})",
                                               R"({"order": "ranks"})",
                                               R"({"accumulate": "fp16"})",
                                               R"({"owner": "summed"})"};

/// Switches and rings of 2 to 16 chips, grids, and slices joined by a network.
std::vector<std::string> topologies() {
  std::vector<std::string> all = {
      R"({"mesh": "2x2"})",
      R"({"torus": "4x2"})",
      R"({"torus": "4x4"})",
      R"({"mesh": "2x2x2"})",
      R"({"torus": "3x2"})",
      R"({"mesh": "2x2", "network": {"slices": 2, "bandwidth": "10 GB/s", "latency": "5 us"}})",
      R"({"switch": 3, "network": {"slices": 3, "bandwidth": "10 GB/s", "latency": "5 us",
          "chips_per_port": 3}})"};
  for (int ranks = 2; ranks <= 16; ++ranks) {
    all.push_back(fmt::format(R"({{"switch": {}}})", ranks));
    all.push_back(fmt::format(R"({{"ring": {}}})", ranks));
  }
  return all;
}

input::Json experiment(const std::string& topology) {
  return {{"hardware", "h100"},
          {"topology", input::parse_json(topology)},
          {"tensor", {{"shape", {kElements}}, {"dtype", "bf16"}}},
          {"collectives", {{{"algorithm", "auto"}}}}};
}

/// The configuration with one collective; std::nullopt if it cannot run.
std::optional<config::ExperimentConfig> try_config(input::Json json, std::string_view algorithm,
                                                   const std::string& format,
                                                   const std::string& arithmetic) {
  json["collectives"] = {{{"algorithm", algorithm}, {"format", format}}};
  if (format == "int8" || format == "int4" || format == "fp8-e4m3")  // groups of several elements
    json["collectives"][0].update({{"layout", "contiguous"}, {"block", 32}});
  if (arithmetic != kArithmetics.front())
    json["collectives"][0]["arithmetic"] = input::parse_json(arithmetic);
  try {
    config::ExperimentConfig config = config::read_config(json);
    config.numerics = false;
    if (!plan::try_plan(config)) return std::nullopt;
    return config;
  } catch (const input::InputError&) {
    return std::nullopt;
  }
}

std::vector<float> result_of(const config::ExperimentConfig& config,
                             const collectives::Program& program, std::uint64_t seed = 1) {
  const values::TensorSource source = run::make_source(config.tensor);
  values::ResultTensor result(source.elements(), source.format());
  values::execute(program, source, {.threads = 1, .result = &result, .rounding_seed = seed});
  std::vector<float> values(source.elements());
  result.read(0, values);
  return values;
}

/// Exact sums of all ranks.
std::vector<double> exact_of(const config::ExperimentConfig& config, std::uint32_t ranks) {
  const values::TensorSource source = run::make_source(config.tensor);
  std::vector<double> sums(source.elements());
  std::vector<float> one(source.elements());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    source.read(rank, 0, one);
    for (std::size_t i = 0; i < one.size(); ++i) sums[i] += static_cast<double>(one[i]);
  }
  return sums;
}

std::uint64_t differing(const std::vector<float>& one, const std::vector<float>& other) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (std::memcmp(&one[i], &other[i], sizeof(float)) != 0 && one[i] != other[i]) ++count;
  return count;
}

/// BF16 nearest to a double that FP32 holds nearly exactly.
float nearest_bf16(double value) {
  const auto single = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof(bits));
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  bits &= 0xFFFF0000U;
  float rounded = 0.0F;
  std::memcpy(&rounded, &bits, sizeof(bits));
  return rounded;
}

/// One algorithm, format and arithmetic on one machine.
class Case {
 public:
  explicit Case(const config::ExperimentConfig& config)
      : config_(config),
        plan_(plan::make_plan(config)),
        program_(plan_.collectives.front().candidates.front().program),
        result_(result_of(config, program_)) {}

  void check() const {
    const contract::CollectiveContract made =
        contract::make_contract(config_,
                                {.threads = 1, .sizes = false, .ranks = false, .times = false})
            .collectives.front();
    const auto keeps = [&](Promise promise) { return why_broken(made, promise).empty(); };
    check_roundings(keeps(Promise::one_rounding), keeps(Promise::fp32_sums));
    if (keeps(Promise::same_bits_at_all_cuts)) check_cuts();
    CHECK(keeps(Promise::deterministic) ==
          (differing(result_of(config_, program_, 2), result_) == 0));
    CHECK(keeps(Promise::no_overflow));
    CHECK(keeps(Promise::same_bits_on_all_ranks) == ranks_agree());
  }

 private:
  /// FP32 adds these terms almost exactly, so that one rounding gives the nearest result, and several
  /// do not.
  void check_roundings(bool once, bool in_fp32) const {
    constexpr std::uint64_t kAlmostNone = 1;
    constexpr std::uint64_t kSome = 5;
    const std::vector<double> exact = exact_of(config_, program_.ranks());
    std::vector<float> nearest(exact.size());
    std::ranges::transform(exact, nearest.begin(), nearest_bf16);
    const std::uint64_t wrong = differing(result_, nearest);
    if (once)
      CHECK(wrong <= kAlmostNone);
    else
      CHECK(wrong >= kSome);
    // The only addition of two terms rounds once in any type.
    const bool partial_sums = program_.ranks() > 2;
    if (partial_sums && !config_.collectives.front().format.scaled) CHECK(once == in_fp32);
  }

  /// Compares the results of all ranks, each computed on its own.
  bool ranks_agree() const {
    const values::TensorSource source = run::make_source(config_.tensor);
    values::ValueRecord record;
    values::execute(program_, source, {.threads = 1, .record = &record});
    return std::ranges::all_of(record.results, [&](const auto& parts) {
      std::vector<float> whole(source.elements());
      for (const values::ResultPart& part : parts)
        std::ranges::copy(part.values,
                          whole.begin() + static_cast<std::ptrdiff_t>(part.range.begin));
      return differing(whole, result_) == 0;
    });
  }

  void check_cuts() const {
    std::mt19937 random(program_.ranks());
    config::CollectiveConfig other = config_.collectives.front();
    other.minishards = 1 + random() % 5;
    other.microshards = 1 + random() % 7;
    std::optional<collectives::Program> program;
    try {
      program = plan::make_program(other, program_.grid(), config_);
    } catch (const std::invalid_argument&) {  // more parts than elements
      return;
    }
    CHECK(differing(result_of(config_, *program), result_) == 0);
  }

  const config::ExperimentConfig& config_;
  plan::Plan plan_;
  const collectives::Program& program_;
  std::vector<float> result_;
};

/// Checks every `step`-th combination that can run, from the first one on; returns their number, by
/// algorithm.
std::map<std::string_view, int> check_cases(std::size_t first, std::size_t step) {
  std::map<std::string_view, int> checked;
  std::size_t number = 0;
  for (const std::string& topology : topologies()) {
    const input::Json json = experiment(topology);
    for (const config::Algorithm algorithm :
         config::algorithms_of(collectives::Collective::all_reduce))
      for (const std::string& format : kFormats)
        for (const std::string& arithmetic : kArithmetics) {
          if (number++ % step != first) continue;
          const auto config = try_config(json, algorithm->name, format, arithmetic);
          if (!config) continue;
          CAPTURE(topology, algorithm->name, format, arithmetic);
          Case(*config).check();
          ++checked[algorithm->name];
        }
  }
  return checked;
}

}  // namespace

TEST_CASE("promises hold for some algorithms, formats and ranks") {
  int all = 0;
  for (const auto& [algorithm, count] : check_cases(3, 37)) all += count;
  CHECK(all > 50);
}

TEST_CASE("promises hold for all algorithms, formats and ranks", "[.][nightly]") {
  const std::map<std::string_view, int> checked = check_cases(0, 1);
  CHECK(checked.size() >= 13);
  for (const auto& [algorithm, count] : checked) {
    CAPTURE(algorithm);
    CHECK(count >= 4);
  }
}

TEST_CASE("the same bits at all sizes are the same at sizes between", "[long]") {
  const input::Json json = experiment(R"({"switch": 5})");
  int kept = 0;
  for (const std::string_view algorithm : {"one-shot", "two-shot", "ring", "nvls"})
    for (const std::string& format : {std::string("bf16"), std::string("mxfp8-e4m3")})
      for (const std::string& arithmetic : kArithmetics) {
        const auto config = try_config(json, algorithm, format, arithmetic);
        if (!config ||
            contract::find_broken(*config, std::array{Promise::same_bits_at_all_sizes}, 1.0, 1))
          continue;
        CAPTURE(algorithm, format, arithmetic);
        ++kept;
        input::Json larger = json;
        larger["tensor"]["shape"] = {7919};
        const auto other = try_config(larger, algorithm, format, arithmetic);
        const auto result = [](const config::ExperimentConfig& one) {
          const plan::Plan plan = plan::make_plan(one);
          return result_of(one, plan.collectives.front().candidates.front().program);
        };
        std::vector<float> beginning = result(*other);
        beginning.resize(kElements - kElements % 32);  // the last block holds other values
        std::vector<float> whole = result(*config);
        whole.resize(beginning.size());
        CHECK(differing(beginning, whole) == 0);
      }
  CHECK(kept >= 4);
}

TEST_CASE("sums that become infinite on their way break no-overflow") {
  const TemporaryDirectory folder;
  std::vector<std::string> files;
  for (std::uint64_t rank = 0; rank < 4; ++rank)
    files.push_back(
        write_values(folder, fmt::format("{}.npy", rank), {256}, [rank](std::uint64_t element) {
          const float sign = rank % 2 == 0 ? 1.0F : -1.0F;
          return sign * static_cast<float>(element * 400 % 65000);
        }));
  for (const std::string_view algorithm : {"ring", "one-shot", "two-shot", "recursive-doubling"})
    for (const std::string& arithmetic : kArithmetics) {
      input::Json json = experiment(R"({"switch": 4})");
      json["tensor"] = {{"dtype", "fp16"}, {"values", {{"files", files}}}};
      const auto config = try_config(json, algorithm, "fp16", arithmetic);
      if (!config) continue;
      CAPTURE(algorithm, arithmetic);
      const plan::Plan plan = plan::make_plan(*config);
      const std::vector<float> result =
          result_of(*config, plan.collectives.front().candidates.front().program);
      const bool finite =
          std::ranges::all_of(result, [](float value) { return std::isfinite(value); });
      CHECK(contract::find_broken(*config, std::array{Promise::no_overflow}, 1.0, 1).has_value() ==
            !finite);
    }
}

}  // namespace equarx::testing::promises_test
