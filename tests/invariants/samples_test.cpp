// Numerics on a sample of the tensor.
#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/result/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::samples_test {
namespace {

input::Json sampled(const std::string& sample) {
  input::Json json = changed("/tensor/shape", "[4194304]");
  json["collectives"][1]["minishards"] = 16;
  config::override_value(json, "/tensor/sample", sample);
  return json;
}

TEST_CASE("a sample has about the error of the whole, and the result reports its size") {
  const run::ExperimentResult whole = run(sampled("1"));
  for (const std::string sample : {"0.5", "0.25", "0.1"}) {
    CAPTURE(sample);
    const run::ExperimentResult part = run(sampled(sample));
    CHECK_NOTHROW(input::check_schema(input::parse_json(result::to_json(part).dump()), "result"));
    for (std::size_t i = 0; i < part.runs.size(); ++i) {
      const values::ValueResult& values = part.runs[i].numerics.value();
      CHECK(values.sampled_fraction == Approx(std::stod(sample)).epsilon(0.3));
      CHECK(result::to_json(part)["runs"][i]["numerics"]["sampled_fraction"] ==
            values.sampled_fraction);
      CHECK(result::to_json(part)["runs"][i]["numerics"]["elements"] ==
            static_cast<std::uint64_t>(values.sampled_fraction * 4194304 + 0.5));
      CHECK(values.against_exact.nmse ==
            Approx(whole.runs[i].numerics->against_exact.nmse).epsilon(0.03));
      CHECK(part.runs[i].time_s == whole.runs[i].time_s);
    }
  }
}

TEST_CASE("the smallest sample is not empty") {
  const run::ExperimentResult result = run(changed("/tensor/sample", "1e-300"));
  for (const run::RunResult& one : result.runs) {
    CHECK(one.numerics->sampled_fraction > 0.0);
    CHECK(one.numerics->sampled_fraction < 1.0);
    CHECK(one.numerics->against_exact.mse > 0.0);
  }
}

}  // namespace
}  // namespace equarx::testing::samples_test
