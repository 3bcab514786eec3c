#include "experiments/variation/discrepancy.hpp"

#include "base/input/json_text.hpp"
#include "experiments/accuracy/summary.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::variation::discrepancy_test {
namespace {

using accuracy::Question;

double spread(Question question) {
  const auto known = accuracy::discrepancy(accuracy::built_in_rows(), question);
  return known ? known->spread : 0.0;
}

config::ExperimentConfig collective(const std::string& hardware, const std::string& topology,
                                    const std::string& bytes) {
  return config::read_config(
      input::parse_json(R"({"hardware": ")" + hardware + R"(", "topology": )" + topology +
                        R"(, "tensor": {"bytes": ")" + bytes + R"("}, "collectives": [
          {"label": "plain", "algorithm": "two-shot", "format": "bf16"},
          {"label": "int8", "algorithm": "two-shot", "format": "int8"}]})"));
}

TEST_CASE("the question of a collective follows from its chip and size") {
  CHECK(question_of(collective("tpu-v5e", R"({"slice": "2x2"})", "1 MiB")) ==
        Question::tpu_collective);
  CHECK(question_of(collective("tpu-v5e", R"({"slice": "2x2"})", "1 KiB")) ==
        Question::small_tpu_collective);
  CHECK(question_of(collective("h100", R"({"fully-connected": 8})", "1 MiB")) ==
        Question::gpu_collective);
  CHECK(question_of(collective("mi300x", R"({"fully-connected": 8})", "512 KiB")) ==
        Question::small_gpu_collective);
}

TEST_CASE("all times of a machine share one spread, quantized speedups have their own") {
  const std::vector<Spread> spreads =
      spreads_of(collective("mi300x", R"({"fully-connected": 8})", "16 MiB"));
  REQUIRE(spreads.size() == 2);
  CHECK(spreads[0].time == spread(Question::gpu_collective));
  CHECK(spreads[1].time == spreads[0].time);
  CHECK(spreads[0].speedup == 0.0);
  CHECK(spreads[1].speedup == spread(Question::quantized_gpu));
  CHECK(spreads[1].speedup > 0.0);
}

TEST_CASE("steps weight quantized speedups by the exposed share") {
  config::StepConfig config = config::read_step_config(testing::good_training());
  CHECK(question_of(config) == Question::training);
  const std::vector<Spread> spreads =
      spreads_of(config, std::vector<double>(config.variants.size(), 0.5));
  REQUIRE(spreads.size() == config.variants.size());
  CHECK(spreads[config.baseline].speedup == 0.0);
  for (const Spread& one : spreads) CHECK(one.time == spread(Question::training));
  config.training->training.precision.ffn.forward = hardware::MatrixType::fp8;
  CHECK(question_of(config) == Question::low_precision);
  config.training->training.model.experts.emplace();
  CHECK(question_of(config) == Question::expert_training);
}

TEST_CASE("unknown discrepancies are said to be unknown") {
  CHECK(is_known(Question::gpu_collective));
  CHECK_FALSE(is_known(Question::schedule));
  CHECK(discrepancy_text(Question::schedule).find("unknown") != std::string::npos);
}

}  // namespace
}  // namespace equarx::variation::discrepancy_test
