#include "experiments/tune/theory.hpp"

#include "tests/experiments/tune/tuning.hpp"

namespace equarx::tune::theory_test {
namespace {

TEST_CASE("theory predicts computed errors, and its floor is a lower bound") {
  const input::Json json = small(R"({"torus": "2x4"})", "4 MiB");
  const config::ExperimentConfig config = config::read_config(json);
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  const TuneResult result = tuned(json, with_formats({"int8"}));
  for (const TunedCandidate& candidate : result.front) {
    CAPTURE(candidate.config.label, candidate.config.elements_per_scale);
    REQUIRE(candidate.theory_nmse);
    if (candidate.config.quantize == config::QuantizedPhases::both)
      CHECK(candidate.nmse == Approx(*candidate.theory_nmse).epsilon(0.1));
  }
  ErrorTheory theory(config);
  for (const TuneFamily& family : space.families) {
    const auto prediction = theory.predict(space.schemes[family.scheme], family.config);
    REQUIRE(prediction);
    CHECK(prediction->floor > 0.0);
    CHECK(prediction->floor <= prediction->nmse / ErrorTheory::kMargin * (1.0 + 1e-9));
  }
}

TEST_CASE("values that are only moved are tuned, with the error of one quantization") {
  for (const std::string collective : {"all-to-all", "broadcast"}) {
    input::Json json = small(R"({"ring": 4})", "1 MiB");
    json["tensor"]["dtype"] = "fp32";
    json["collective"] = collective;
    json["collectives"] = input::parse_json(R"([{"label": "bf16", "algorithm": "direct"}])");
    std::size_t quantized = 0;
    for (const TunedCandidate& candidate : exhaustive(json, with_formats({"int8"})).front) {
      CAPTURE(collective, candidate.config.label);
      ++quantized;
      REQUIRE(candidate.theory_nmse);
      CHECK(candidate.nmse == Approx(*candidate.theory_nmse).epsilon(0.1));
    }
    CHECK(quantized > 0);
  }
}

TEST_CASE("errors of few bits on many ranks stay above the floor") {
  // A hop's quantization step far exceeds a rank's contribution: the loss is below the linear
  // prediction.
  input::Json json = small(R"({"ring": 64})", "64 KiB");
  const TuneResult result = exhaustive(json, with_formats({"int4"}));
  CHECK_FALSE(result.theory_refuted);
}

}  // namespace
}  // namespace equarx::tune::theory_test
