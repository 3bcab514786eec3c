#include "experiments/config/arithmetic_json.hpp"

#include <set>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/collective_json.hpp"
#include "tests/catch.hpp"

namespace equarx::config::arithmetic_json_test {
namespace {

using collectives::Collective;
using numerics::ElementFormat;

CollectiveConfig read(const char* text, Collective collective = Collective::all_reduce) {
  const input::Json json = input::parse_json(text);
  return read_collective(input::ObjectReader(json, ""), collective, ElementFormat::bf16);
}

void check_refused(const char* text, const std::string& pointer, const std::string& part,
                   Collective collective = Collective::all_reduce) {
  CAPTURE(text);
  try {
    read(text, collective);
    FAIL("no InputError was thrown");
  } catch (const input::InputError& error) {
    CHECK(error.pointer() == pointer);
    CHECK_THAT(error.what(), ContainsSubstring(part));
  }
}

collectives::Arithmetic program_arithmetic(const char* text) {
  return arithmetic_of(read(text).arithmetic, ElementFormat::bf16);
}

}  // namespace

TEST_CASE("the arithmetic of a collective is read and written") {
  const CollectiveConfig config = read(
      R"({"algorithm": "two-shot", "arithmetic": {"accumulate": "fp16", "order": "ranks",
          "subnormals": "flush", "overflow": "saturate", "residual": "before"}})");
  CHECK(config.arithmetic.accumulate == ElementFormat::fp16);
  const input::Json json = collective_json(config, Collective::all_reduce);
  const CollectiveConfig again = read(json.dump().c_str());
  CHECK(again.arithmetic == config.arithmetic);
  CHECK(again.label == config.label);
  CHECK_THAT(config.label, ContainsSubstring("fp16 sums, in rank order"));
  CHECK(collective_json(read(R"({"algorithm": "ring"})"), Collective::all_reduce)
            .contains("arithmetic") == false);
}

TEST_CASE("the arithmetic of programs follows") {
  CHECK(program_arithmetic(R"({"algorithm": "one-shot"})") == collectives::Arithmetic{});
  CHECK(program_arithmetic(R"({"algorithm": "one-shot", "arithmetic": {"round": "rank"}})")
            .accumulate == ElementFormat::bf16);
  CHECK(program_arithmetic(R"({"algorithm": "two-shot", "arithmetic": {"order": "owner"}})")
            .accumulate == ElementFormat::fp32);
}

TEST_CASE("rounding once sends partial sums in FP32") {
  const auto formats = [](const char* algorithm, collectives::Phase phase) {
    const CollectiveConfig config =
        read(fmt::format(R"({{"algorithm": "{}", "arithmetic": {{"round": "once"}}}})", algorithm)
                 .c_str());
    return wire_format(config, phase, ElementFormat::bf16).element;
  };
  using collectives::Phase;
  CHECK(formats("ring", Phase::reduce_scatter) == ElementFormat::fp32);
  CHECK(formats("ring", Phase::all_gather) == ElementFormat::bf16);
  CHECK(formats("two-shot", Phase::reduce_scatter) == ElementFormat::bf16);
  CHECK(formats("hierarchical-two-shot", Phase::reduce_scatter) == ElementFormat::bf16);
  CHECK(formats("hierarchical-two-shot", Phase::reduce_scatter_between) == ElementFormat::fp32);
  CHECK(formats("recursive-doubling", Phase::reduce_scatter) == ElementFormat::fp32);
}

TEST_CASE("contradictions and what an algorithm cannot do are refused") {
  check_refused(
      R"({"algorithm": "one-shot", "arithmetic": {"accumulate": "fp32", "round": "rank"}})",
      "/arithmetic/accumulate", "contradicts");
  check_refused(R"({"algorithm": "auto", "arithmetic": {"round": "once"}})", "/arithmetic", "auto");
  check_refused(R"({"algorithm": "torus", "format": "int8", "arithmetic": {"round": "once"}})",
                "/arithmetic/round", "two-shot");
  check_refused(R"({"algorithm": "quickreduce", "format": "quickreduce-int8",
                    "arithmetic": {"accumulate": "fp32"}})",
                "/arithmetic/accumulate", "part of the format");
  check_refused(R"({"algorithm": "quickreduce", "arithmetic": {"round": "rank"}})",
                "/arithmetic/round", "published kernel");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"order": "ranks"}})", "/arithmetic/order",
                "two-shot");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"owner": "summed"}})", "/arithmetic/owner",
                "same bits");
  check_refused(R"({"algorithm": "hierarchical", "format": "int8",
                    "arithmetic": {"owner": "summed"}})",
                "/arithmetic/owner", "one level");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"residual": "before"}})",
                "/arithmetic/residual", "one-shot");
  check_refused(R"({"algorithm": "two-shot", "cast_to": "fp8-e5m2",
                    "arithmetic": {"residual": "after"}})",
                "/arithmetic/residual", "casts");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"accumulate": "int8"}})",
                "/arithmetic/accumulate", "bf16");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"accumulator": "fp32"}})",
                "/arithmetic/accumulator", "accumulate");
  check_refused(R"({"algorithm": "ring", "arithmetic": {"round": "once"}})", "/arithmetic",
                "adds nothing", Collective::all_gather);
}

TEST_CASE("presets are for their algorithms, without scales") {
  CHECK(read(R"({"algorithm": "one-shot", "arithmetic": "trtllm-one-shot"})").arithmetic.round ==
        RoundSums::rank);
  check_refused(R"({"algorithm": "ring", "arithmetic": "trtllm-one-shot"})", "/arithmetic",
                "one-shot");
  check_refused(R"({"algorithm": "one-shot", "arithmetic": "trtllm-oneshot"})", "/arithmetic",
                "trtllm-one-shot");
  check_refused(R"({"algorithm": "one-shot", "format": "int8", "arithmetic": "vllm-one-shot"})",
                "/arithmetic", "format");
  std::set<std::string_view> names;
  for (const ArithmeticPreset& preset : arithmetic_presets()) {
    CHECK(names.insert(preset.name).second);
    CHECK_FALSE(preset.sums.empty());
    CHECK_FALSE(preset.source.empty());
    for (const std::string_view algorithm : preset.algorithms)
      CHECK(read(fmt::format(R"({{"algorithm": "{}", "arithmetic": "{}"}})", algorithm, preset.name)
                     .c_str(),
                 algorithm == "direct" ? Collective::reduce_scatter : Collective::all_reduce)
                .arithmetic.preset == preset.name);
  }
}

}  // namespace equarx::config::arithmetic_json_test
