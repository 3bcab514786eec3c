#include "experiments/tune/space.hpp"

#include <set>
#include <string>
#include <tuple>

#include "tests/experiments/tune/tuning.hpp"

namespace equarx::tune::space_test {
namespace {

TEST_CASE("equal tilings are one candidate, and a small tensor has few candidates") {
  const config::ExperimentConfig config = config::read_config(small(R"({"ring": 4})", "64 KiB"));
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  std::set<std::tuple<config::Algorithm, collectives::RingStyle, config::QuantizedPhases>> variants;
  for (const TuneFamily& family : space.families)
    CHECK(variants.insert({family.config.algorithm, family.config.ring, family.config.quantize})
              .second);
  // Chunks are smaller than the smallest minishard, so all elements per scale give the same tiling.
  CHECK(space.duplicates > space.candidates.size());
  const TuneResult result = exhaustive(small(R"({"ring": 4})", "64 B"), with_formats({"int8"}));
  CHECK(result.counts.cannot_run > 0);  // sixteen microshards of eight elements
}

TEST_CASE("the default formats are all scaled formats but near-duplicates") {
  std::set<std::string> names;
  for (const config::NamedBlockFormat& format : tune_formats({})) names.insert(format.name);
  CHECK(names.contains("int8"));
  CHECK(names.contains("nvfp4"));
  CHECK(names.contains("bf16"));
  CHECK_FALSE(names.contains("fp16"));
  CHECK(names.size() == tune_formats({}).size());
  std::set<std::string> others;
  for (const numerics::NamedFormat& named : numerics::named_formats())
    if (named.format.scaled && !names.contains(std::string(named.name)) &&
        named.format.rule == numerics::ScaleRule::amax)
      others.emplace(named.name);
  CHECK(others == std::set<std::string>{"fp8-e4m3fnuz", "fp8-e5m2fnuz", "int6"});
  for (const std::string published : {"quickreduce-int8", "zeropp-int8", "sdp4bit-int4"})
    CHECK_FALSE(names.contains(published));  // fixed published schemes
  CHECK(tune_formats({"int6", "float8_e4m3fnuz"}).size() == 2);
}

}  // namespace
}  // namespace equarx::tune::space_test
