#include "experiments/advise/advise.hpp"

#include "experiments/advise/report.hpp"
#include "experiments/tune/space.hpp"
#include "tests/experiments/advise/advising.hpp"
#include "tests/support/errors.hpp"

namespace equarx::advise::advise_test {
namespace {

TEST_CASE("quantizing a large tensor is advised, and the advice matches a run") {
  input::Json json = on_slice("4x2", "16 MiB");
  const Advice advice = advice_on(json);
  CHECK(advice.verdict == variation::Verdict::yes);
  REQUIRE(advice.quantized);
  CHECK(advice.quantized->config.format.name == "int8");
  CHECK(advice.speedup() > 1.5);
  REQUIRE(advice.confidence.uncertainty);
  CHECK(advice.confidence.uncertainty->speedup.low < advice.speedup());
  CHECK(advice.confidence.uncertainty->speedup.high > advice.speedup());
  json["collectives"] = input::Json::array(
      {config::collective_json(advice.plain.config, collectives::Collective::all_reduce),
       config::collective_json(advice.quantized->config, collectives::Collective::all_reduce)});
  json["baseline"] = advice.plain.config.label;
  const run::ExperimentResult result = testing::run(json);
  CHECK(*result.runs[1].speedup == Approx(advice.speedup()));
  CHECK(result.runs[1].numerics->against_exact.nmse ==
        Approx(advice.quantized->nmse).epsilon(0.05));
}

TEST_CASE("quantizing a small tensor is not advised") {
  const Advice advice = advice_on(on_slice("4x2", "64 KiB"));
  CHECK(advice.verdict == variation::Verdict::no);
  REQUIRE(advice.quantized);
  CHECK(advice.speedup() < 1.0);
  CHECK_FALSE(advice.plain.config.format.scaled);
  const auto from = break_even_size(advice.sizes);
  REQUIRE(from);
  CHECK(from->bytes > std::uint64_t{64} << 10);
}

TEST_CASE("without a quantized candidate within the limits, the nearest is reported") {
  const Advice advice = advice_on(on_slice("4x2", "1 MiB"), 49.0);
  CHECK(advice.verdict == variation::Verdict::no);
  CHECK_FALSE(advice.quantized);
  REQUIRE(advice.nearest);
  CHECK(advice.nearest->nmse > std::pow(10.0, -4.9));
}

TEST_CASE("with a contract both collectives keep it, and none is quantized if none can") {
  using contract::Promise;
  const input::Json json = on_slice("4x2", "1 MiB");
  tune::TuneOptions options = at_least(30.0);
  options.promises = {Promise::fp32_sums};
  const auto keeps = [&](const tune::TunedCandidate& one) {
    return !contract::find_broken(tune::with_collective(config::read_config(json), one.config),
                                  options.promises, 1.0, 1);
  };
  Advice advice = advise(config::read_config(json), options, [](const std::string&) {});
  CHECK(keeps(advice.plain));
  REQUIRE(advice.quantized);
  CHECK(keeps(*advice.quantized));
  CHECK_THAT(to_text(advice), ContainsSubstring("fp32-sums: kept"));
  options.promises = {Promise::one_rounding};
  advice = advise(config::read_config(json), options, [](const std::string&) {});
  CHECK(advice.verdict == variation::Verdict::no);
  CHECK_FALSE(advice.quantized);
  CHECK_FALSE(advice.nearest);
  CHECK_THAT(to_text(advice), ContainsSubstring("no: every quantized candidate breaks"));
}

TEST_CASE("the verdict is unclear if and only if the speedup interval includes 1") {
  // Near the break-even size the sampled chips disagree on which collective is faster.
  input::Json json = on_slice("4x2", "1 MiB");
  bool unclear = false;
  for (const std::string bytes : {"320 KiB", "352 KiB", "384 KiB", "416 KiB", "448 KiB"}) {
    json["tensor"] = {{"bytes", bytes}};
    const Advice advice = advice_on(json);
    REQUIRE(advice.confidence.uncertainty);
    const variation::Interval& speedup = advice.confidence.uncertainty->speedup;
    const bool straddles = speedup.low < 1.0 && speedup.high > 1.0;
    CHECK((advice.verdict == variation::Verdict::unclear) == straddles);
    unclear = unclear || straddles;
  }
  CHECK(unclear);
}

TEST_CASE("advise rejects inputs without a comparison or a feasible limit") {
  using testing::check_refused;
  const config::ExperimentConfig config = config::read_config(on_slice("4x2", "64 KiB"));
  tune::TuneOptions options;
  options.formats = {"bf16"};
  const auto go = [&] { advise(config, options, [](const std::string&) {}); };
  check_refused(go, "--formats", "no format with scales");
  options.formats = {"int8"};
  options.limits.max_nmse = 1e-12;
  check_refused(go, "--max-nmse", "no configuration is accurate enough");
}

}  // namespace
}  // namespace equarx::advise::advise_test
