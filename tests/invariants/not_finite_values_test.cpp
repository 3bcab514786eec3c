// NaN and Inf in a tensor.
#include <cmath>
#include <limits>
#include <set>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "models/values/result_tensor.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::testing::not_finite_values_test {
namespace {

constexpr std::uint64_t kPoisoned = 5000;  ///< element of rank 1

/// Two equal files, except for one element of one rank.
input::Json poisoned(const TemporaryDirectory& directory, float poison) {
  constexpr std::uint64_t kElements = 12288;  // 2048 for each of 3 ranks in each of 2 directions
  return from_files({write_values(directory, "all.npy", {kRanks, kElements}, [&](std::uint64_t i) {
    return i == kElements + kPoisoned ? poison : std::sin(static_cast<float>(i));
  })});
}

/// Result of the configuration's collective.
std::vector<float> values_of(const input::Json& json, std::size_t collective) {
  const plan::Plan plan = plan_of(json);
  const config::TensorConfig& tensor = plan.config.tensor;
  values::ResultTensor result(tensor.elements, tensor.dtype);
  const values::ValueResult report =
      values::execute(plan.collectives[collective].candidates.front().program,
                      {tensor.opened, tensor.elements, tensor.dtype}, {.result = &result});
  CHECK(report.ranks_identical);
  std::vector<float> values(tensor.elements);
  result.read(0, values);
  return values;
}

TEST_CASE("an experiment on NaN and Inf counts them and has the errors of the other elements") {
  const TemporaryDirectory directory;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float poison : {std::nanf(""), -std::nanf(""), kInf, -kInf}) {
    CAPTURE(poison);
    const run::ExperimentResult result = run(poisoned(directory, poison));
    const std::string text = result::to_json(result).dump();
    CHECK(text.find("NaN") == std::string::npos);
    const input::Json json = input::parse_json(text);
    CHECK_NOTHROW(input::check_schema(json, "result"));
    const bool is_nan = std::isnan(poison);
    CHECK(json["nonfinite_inputs"] ==
          input::Json{{{"rank", 1}, {"nan", is_nan ? 1 : 0}, {"inf", is_nan ? 0 : 1}}});
    const input::Json clean = result::to_json(run(poisoned(directory, 1.0F)));
    CHECK_FALSE(clean.contains("nonfinite_inputs"));
    const std::vector<std::uint64_t> lost = {1, 2, 32};  // a scale group
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const input::Json& one = json["runs"][i];
      CAPTURE(one["label"]);
      CHECK(one["numerics"]["ranks_identical"] == true);
      CHECK(one["numerics"]["nonfinite_elements"] == lost[i]);
      CHECK(clean["runs"][i]["numerics"]["nonfinite_elements"] == 0);
      // The lost elements may hold the largest error.
      CHECK(one["numerics"]["max_abs_error"] <= clean["runs"][i]["numerics"]["max_abs_error"]);
      CHECK(one["numerics"]["max_abs_error"] > 0.0);
      for (const char* key : {"mse", "nmse", "sqnr_db", "cosine_similarity"})
        CHECK(one["numerics"][key].get<double>() ==
              Approx(clean["runs"][i]["numerics"][key].get<double>()).epsilon(0.01));
      CHECK(one["time_s"].is_number());
    }
    const std::string table = result::to_table(result);
    CHECK_THAT(table, ContainsSubstring("Warning: input of rank 1 has 1 " +
                                        std::string(is_nan ? "NaN" : "Inf") + ".\n") &&
                          ContainsSubstring(": 32 of 12288 elements are NaN or Inf") &&
                          !ContainsSubstring("nan dB") && !ContainsSubstring("inf"));
  }
}

TEST_CASE("the table of tensors of zeros calls their results exact") {
  const TemporaryDirectory directory;
  const std::string table = result::to_table(run(from_files(
      {write_values(directory, "all.npy", {kRanks, 12288}, [](std::uint64_t) { return 0.0F; })})));
  CHECK_THAT(table, ContainsSubstring(" exact") && !ContainsSubstring("inf dB"));
}

TEST_CASE("NaN and Inf spread to their own scale group only") {
  const TemporaryDirectory directory;
  std::set<std::uint64_t> of_register;  // strided: equal mod 1024 within the minishard of 2048
  std::set<std::uint64_t> of_block;     // contiguous
  for (std::uint64_t i = 4096; i < 6144; ++i) {
    if (i % 1024 == kPoisoned % 1024) of_register.insert(i);
    if (i / 32 == kPoisoned / 32) of_block.insert(i);
  }
  REQUIRE(of_register.size() == 2);
  REQUIRE(of_block.size() == 32);
  const std::vector<std::set<std::uint64_t>> groups = {{kPoisoned}, of_register, of_block};
  for (std::size_t collective = 0; collective < groups.size(); ++collective) {
    const std::vector<float> clean = values_of(poisoned(directory, 1.0F), collective);
    for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      CAPTURE(collective, poison);
      const std::vector<float> values = values_of(poisoned(directory, poison), collective);
      std::set<std::uint64_t> not_finite;
      std::size_t changed = 0;
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) not_finite.insert(i);
        if (!groups[collective].contains(i) && values[i] != clean[i]) ++changed;
      }
      CHECK(not_finite == groups[collective]);
      CHECK(changed == 0);
    }
  }
}

TEST_CASE("a plain ring of any format ends with the same bits on all ranks, with NaN too") {
  const TemporaryDirectory directory;
  for (const float poison : {std::nanf(""), -std::numeric_limits<float>::infinity()})
    for (const std::string format :
         {"fp32", "bf16", "fp16", "int8-cast", "fp8-e4m3-cast", "fp8-e5m2-cast"})
      for (const std::string dtype : {"fp32", "bf16"}) {
        CAPTURE(poison, format, dtype);
        input::Json json = poisoned(directory, poison);
        json["tensor"]["dtype"] = dtype;
        config::override_value(json, "/collectives", "[]");
        json["collectives"].push_back({{"algorithm", "ring"}, {"format", format}});
        const std::vector<float> values = values_of(json, 0);
        const auto not_finite =
            std::ranges::count_if(values, [](float value) { return !std::isfinite(value); });
        CHECK(not_finite == (format == "int8-cast" ? 0 : 1));  // int8 has neither NaN nor Inf
      }
}

}  // namespace
}  // namespace equarx::testing::not_finite_values_test
