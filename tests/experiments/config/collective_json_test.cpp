#include "experiments/config/collective_json.hpp"

#include <string>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::config::collective_json_test {
namespace {

using testing::changed;
using testing::check_mistakes;
using testing::check_refused;
using testing::good_config;
using testing::plan_of;

TEST_CASE("keys of one algorithm or layout are refused for another") {
  check_mistakes({{"/collectives/0/quantize", "both", "/collectives/0/quantize", "remove it"},
                  {"/collectives/0/scale", "fp32", "/collectives/0/scale", "remove it"},
                  {"/collectives/0/format", "int9", "/collectives/0/format",
                   "did you mean 'int8'? (with scales: int8, "},
                  {"/collectives/0/elements_per_scale", "64", "/collectives/0/elements_per_scale",
                   "remove it"},
                  {"/collectives/1/elements_per_scale", "64", "/collectives/1/elements_per_scale",
                   "minishards"},
                  {"/collectives/1/cuts", "by-size", "/collectives/1/cuts", "remove it"},
                  {"/collectives/0/cuts", "best", "/collectives/0/cuts", "one of fastest, by-size"},
                  {"/collectives/1/format", "bf16", "/collectives/1/format", "is not quantized"},
                  {"/collectives/1/block", "32", "/collectives/1/block", "contiguous"},
                  {"/collectives/1/layout", "contiguous", "/collectives/1/block", "is missing"}});
}

TEST_CASE("a cast is to a tensor type other than the tensor's") {
  const CollectiveConfig cast =
      read_config(changed("/collectives/0", R"({"algorithm": "ring", "label": "bf16",
                                                "cast_to": "fp8-e5m2"})"))
          .collectives[0];
  CHECK(cast.cast_to == numerics::ElementFormat::fp8_e5m2);
  CHECK(cast.format.name == "fp8-e5m2");
  input::Json unnamed = good_config();
  unnamed["collectives"][1] = {{"algorithm", "ring"}, {"cast_to", "fp8-e5m2"}};
  CHECK(read_config(unnamed).collectives[1].label == "ring fp8-e5m2, cast to fp8-e5m2");
  CHECK(tensor_type(cast, numerics::ElementFormat::bf16) == numerics::ElementFormat::fp8_e5m2);
  CHECK(collective_json(cast, collectives::Collective::all_reduce).at("cast_to") == "fp8-e5m2");
  const CollectiveConfig plain = read_config(good_config()).collectives[0];
  CHECK_FALSE(plain.cast_to);
  CHECK(tensor_type(plain, numerics::ElementFormat::fp32) == numerics::ElementFormat::fp32);
  CHECK_FALSE(collective_json(plain, collectives::Collective::all_reduce).contains("cast_to"));
  check_mistakes(
      {{"/collectives/0/cast_to", "bf16", "/collectives/0/cast_to", "is bf16 already"},
       {"/collectives/0/cast_to", "int8", "/collectives/0/cast_to", "one of fp32, bf16, fp16, fp8"},
       {"/collectives/0/cast_to", "fp8-e4m3fnuz", "/collectives/0/cast_to", "one of fp32, bf16"},
       {"/collectives/0/cast_to", "8", "/collectives/0/cast_to", "expected one of"}});
}

TEST_CASE("rotation applies to quantized sums, in FP32") {
  input::Json json = good_config();
  json["collectives"] = {{{"algorithm", "equarx"}, {"format", "int4"}, {"hadamard", true}}};
  json.erase("baseline");
  const CollectiveConfig rotated = read_config(json).collectives[0];
  CHECK(rotated.hadamard);
  CHECK(has_casts(rotated));
  CHECK(rotated.label == "equarx int4, hadamard");
  CHECK(tensor_type(rotated, numerics::ElementFormat::bf16) == numerics::ElementFormat::fp32);
  CHECK(collective_json(rotated, collectives::Collective::all_reduce).at("hadamard") == true);
  const input::Json written = to_json(read_config(json));
  CHECK(to_json(read_config(written)) == written);
  CHECK_NOTHROW(input::check_schema(written, "experiment"));
  const auto refused = [&](const input::Json& collective, const std::string& why) {
    input::Json wrong = json;
    wrong["collectives"][0] = collective;
    check_refused([&] { read_config(wrong); }, "/collectives/0/hadamard", why);
  };
  refused({{"algorithm", "ring"}, {"hadamard", true}}, "use a quantized format");
  refused({{"algorithm", "torus"}, {"format", "fp8lm-e4m3"}, {"hadamard", true}},
          "use a quantized format");
  refused({{"algorithm", "equarx"}, {"cast_to", "fp16"}, {"hadamard", true}}, "remove \"cast_to\"");
  refused({{"algorithm", "equarx"}, {"hadamard", 1}}, "true or false");
  json["collective"] = "reduce-scatter";
  CHECK_NOTHROW(read_config(json));
  json["collective"] = "all-gather";
  json["collectives"][0] = {{"algorithm", "torus"}, {"format", "int4"}, {"hadamard", true}};
  check_refused([&] { read_config(json); }, "/collectives/0/hadamard", "is for sums");
  json["collectives"][0] = {{"algorithm", "equarx"}, {"hadamard", false}};
  json["collective"] = "all-reduce";
  CHECK_FALSE(has_casts(read_config(json).collectives[0]));
  CHECK_FALSE(to_json(read_config(json))["collectives"][0].contains("hadamard"));
}

TEST_CASE("casts are fused unless they are rotations, and are written where there are any") {
  using collectives::Casts;
  input::Json json = good_config();
  json.erase("baseline");
  const auto read = [&](const char* collective) {
    json["collectives"] = {input::parse_json(collective)};
    const CollectiveConfig config = read_config(json).collectives[0];
    const input::Json written = to_json(read_config(json));
    CHECK(to_json(read_config(written)) == written);
    CHECK_NOTHROW(input::check_schema(written, "experiment"));
    return config.casts;
  };
  CHECK(read(R"({"algorithm": "ring", "cast_to": "fp8-e5m2"})") == Casts::fused);
  CHECK(read(R"({"algorithm": "ring", "cast_to": "fp16", "casts": "separate"})") ==
        Casts::separate);
  CHECK(read(R"({"algorithm": "torus", "format": "fp8lm-e4m3"})") == Casts::fused);
  CHECK(read(R"({"algorithm": "equarx", "format": "int4", "hadamard": true})") == Casts::separate);
  const auto refused = [&](const char* collective, const char* why) {
    json["collectives"] = {input::parse_json(collective)};
    check_refused([&] { read_config(json); }, "/collectives/0/casts", why);
  };
  refused(R"({"algorithm": "ring", "casts": "fused"})", "is for collectives that cast");
  refused(R"({"algorithm": "ring", "cast_to": "fp16", "casts": "hbm"})", "one of fused, separate");
  refused(R"({"algorithm": "equarx", "format": "int4", "hadamard": true, "casts": "fused"})",
          "use \"separate\"");
}

TEST_CASE("a scale shared by all ranks casts the tensor, and is for sums") {
  input::Json json = good_config();
  json["collectives"] = {{{"algorithm", "torus"}, {"format", "fp8lm-e5m2"}}};
  json.erase("baseline");
  const CollectiveConfig shared = read_config(json).collectives[0];
  CHECK(shared.label == "torus fp8lm-e5m2");
  CHECK(tensor_type(shared, numerics::ElementFormat::fp32) == numerics::ElementFormat::fp8_e5m2);
  CHECK(wire_format(shared, collectives::Phase::all_gather, numerics::ElementFormat::bf16) ==
        shared.format);
  json["collectives"][0]["cast_to"] = "fp8-e5m2";
  check_refused([&] { read_config(json); }, "/collectives/0/cast_to", "remove it");
  json["collectives"][0].erase("cast_to");
  json["collective"] = "reduce-scatter";
  CHECK_NOTHROW(read_config(json));
  json["collective"] = "all-gather";
  check_refused([&] { read_config(json); }, "/collectives/0/format", "is for sums");
  json["collective"] = "broadcast";
  json["collectives"][0]["algorithm"] = "ring";
  check_refused([&] { read_config(json); }, "/collectives/0/format", "is for sums");
}

TEST_CASE("codes summed pairwise are refused for algorithms that add more terms") {
  input::Json json = good_config();
  json.erase("baseline");
  json["collectives"] = {{{"algorithm", "ring"}, {"format", "global-qsgd-exp8"}}};
  for (const std::string good : {"ring", "torus", "halving-doubling", "binomial-tree", "auto"}) {
    json["collectives"][0]["algorithm"] = good;
    CHECK_NOTHROW(read_config(json));
  }
  for (const std::string wrong : {"two-shot", "one-shot", "recursive-doubling", "quickreduce"}) {
    json["collectives"][0]["algorithm"] = wrong;
    check_refused([&] { read_config(json); }, "/collectives/0/algorithm",
                  "use one of ring, torus, halving-doubling, binomial-tree");
  }
  json["collective"] = "reduce-scatter";
  json["collectives"][0]["algorithm"] = "direct";
  check_refused([&] { read_config(json); }, "/collectives/0/algorithm",
                "use one of ring, torus, halving-doubling");
  json["collectives"][0]["format"] = "global-qsgd-int8";
  CHECK_NOTHROW(read_config(json));
}

TEST_CASE("an ambiguous FP8 tensor type is written by omitting the format") {
  input::Json json = good_config();
  json["tensor"]["dtype"] = "fp8-e4m3";
  for (const std::string collective :
       {R"({"algorithm": "torus"})", R"({"algorithm": "torus", "format": "fp8-e4m3"})",
        R"({"algorithm": "ring"})", R"({"algorithm": "auto", "cast_to": "fp8-e5m2"})"}) {
    CAPTURE(collective);
    json["collectives"][1] = input::parse_json(collective);
    const ExperimentConfig config = read_config(json);
    CHECK(config.collectives[1].format.scaled == json["collectives"][1].contains("format"));
    const input::Json written = to_json(config);
    CHECK(read_config(written).collectives[1].format == config.collectives[1].format);
    CHECK(to_json(read_config(written)) == written);
  }
}

TEST_CASE("an unquantized phase uses the type the tensor is cast to") {
  const CollectiveConfig half =
      read_config(changed("/collectives/1", R"({"algorithm": "equarx", "quantize": "all-gather",
                                                "label": "int8", "cast_to": "fp16"})"))
          .collectives[1];
  CHECK(wire_format(half, collectives::Phase::reduce_scatter, numerics::ElementFormat::bf16) ==
        numerics::BlockFormat{.element = numerics::ElementFormat::fp16});
  CHECK(wire_format(half, collectives::Phase::all_gather, numerics::ElementFormat::bf16).scaled);
}

TEST_CASE("an algorithm of another collective is refused with the supported ones") {
  check_mistakes({{"/collective", "allreduce", "/collective", "did you mean 'all-reduce'?"},
                  {"/collective", "7", "/collective", "expected one of all-reduce, reduce-scatter"},
                  {"/collectives/0/algorithm", "direct", "/collectives/0/algorithm",
                   "one of ring, equarx, torus, two-shot, halving-doubling"},
                  {"/collectives/0/algorithm", "bidirectional", "/collectives/0/algorithm",
                   "one of ring, equarx"}});
  const auto refuse = [](const std::string& collective, const std::string& algorithm,
                         const std::string& names) {
    input::Json json = changed("/collective", collective);
    json["collectives"] = {{{"algorithm", algorithm}}};
    json.erase("baseline");
    CAPTURE(collective, algorithm);
    check_refused([&] { read_config(json); }, "/collectives/0/algorithm", names);
  };
  const std::string halves =
      "one of ring, equarx, torus, halving-doubling, nvls, node-ring, direct, hierarchical, "
      "hierarchical-two-shot, ";
  refuse("reduce-scatter", "two-shot", halves);
  refuse("all-gather", "one-shot", halves);
  refuse("all-gather", "recursive-doubling", halves);
  refuse("all-to-all", "ring", "one of direct, pairwise, hierarchical-direct, auto");
  refuse("all-to-all", "equarx", "one of direct, pairwise, hierarchical-direct, auto");
  refuse("broadcast", "torus", "one of ring, equarx, direct, auto");
}

TEST_CASE("keys that do not apply to an algorithm are refused") {
  const auto refuse = [](const std::string& collective, const std::string& text,
                         const std::string& key, const std::string& remedy) {
    input::Json json = changed("/collective", collective);
    json["collectives"] = input::Json::array({input::parse_json(text)});
    json.erase("baseline");
    CAPTURE(collective, text);
    check_refused([&] { read_config(json); }, "/collectives/0/" + key, remedy);
  };
  for (const std::string algorithm :
       {"halving-doubling", "recursive-doubling", "one-shot", "two-shot"})
    refuse("all-reduce", R"({"ring": "full-loop", "algorithm": ")" + algorithm + "\"}", "ring",
           "is for ring algorithms; remove it");
  refuse("all-to-all", R"({"algorithm": "direct", "ring": "semi-loop"})", "ring", "remove it");
  for (const std::string algorithm : {"one-shot", "recursive-doubling"})
    refuse("all-reduce", R"({"quantize": "both", "algorithm": ")" + algorithm + "\"}", "quantize",
           "'" + algorithm + "' has one phase only; remove it");
  for (const std::string collective : {"reduce-scatter", "all-gather"}) {
    refuse(collective, R"({"algorithm": "equarx", "quantize": "both"})", "quantize",
           "selects phases of an AllReduce; remove it");
    refuse(collective, R"({"algorithm": "torus", "quantize": "both"})", "quantize", "remove it");
  }
  refuse("all-to-all", R"({"algorithm": "direct", "quantize": "both"})", "quantize", "remove it");
  refuse("neighbor-average", R"({"algorithm": "neighbors", "quantize": "both"})", "quantize",
         "remove it");
  refuse("neighbor-average", R"({"algorithm": "neighbors", "format": "fp8lm-e4m3"})", "format",
         "is for sums");
  refuse("neighbor-average", R"({"algorithm": "direct"})", "algorithm",
         "for NeighborAverage use one of neighbors, auto");
  refuse("all-gather", R"({"algorithm": "two-shot"})", "algorithm",
         "'two-shot' implements AllReduce only; for AllGather use one of ring");
  refuse("broadcast", R"({"algorithm": "torus"})", "algorithm", "for Broadcast use one of");
  refuse("broadcast", R"({"algorithm": "ring", "block": 32})", "block", "remove it");
  refuse("broadcast", R"({"algorithm": "ring", "format": "int9"})", "format",
         "did you mean 'int8'?");
  refuse("broadcast", R"({"algorithm": "ring", "format": "mxfp4"})", "format",
         "use \"algorithm\": \"equarx\"");
  refuse("all-reduce", R"({"algorithm": "ring", "scale": "fp32"})", "scale", "ring has no scales");
  refuse("all-reduce", R"({"algorithm": "torus", "scale": "fp32", "format": "bf16"})", "format",
         "is not quantized");
  refuse("all-reduce", R"({"algorithm": "torus", "elements_per_scale": 64})", "elements_per_scale",
         "quantized collectives");
  refuse("all-reduce", R"({"algorithm": "auto", "format": "int9"})", "format",
         "did you mean 'int8'?");
  refuse("all-reduce", R"({"algorithm": "torus", "axes": [0, 1]})", "axes", "unknown key");
}

TEST_CASE("values that are only moved have formats with scales, and their configurations return") {
  for (const auto& [collective, algorithm] : {std::pair{"all-to-all", "direct"},
                                              {"all-to-all", "auto"},
                                              {"broadcast", "equarx"},
                                              {"broadcast", "direct"},
                                              {"neighbor-average", "neighbors"},
                                              {"all-gather", "direct"},
                                              {"reduce-scatter", "direct"}})
    for (const numerics::NamedFormat& named : numerics::named_formats()) {
      if (!named.format.scaled) continue;
      CAPTURE(collective, algorithm, named.name);
      input::Json json = changed("/collective", collective);
      json["collectives"] = {{{"algorithm", algorithm}, {"format", named.name}}};
      json.erase("baseline");
      const ExperimentConfig config = read_config(json);
      CHECK(config.collectives[0].format == named.format);
      CHECK(to_json(read_config(to_json(config))) == to_json(config));
    }
}

TEST_CASE("labels are unique, and the baseline is one of them") {
  check_mistakes({{"/collectives/1/label", "bf16", "/collectives/1/label", "give each its own"},
                  {"/baseline", "bf61", "/baseline", "did you mean 'bf16'? (one of bf16, int8)"},
                  {"/baseline", "\"\"", "/baseline", "one of bf16, int8"}});
  check_refused(
      [] { plan_of(changed("/collectives", R"([{"algorithm": "ring"}, {"algorithm": "ring"}])")); },
      "/collectives/1/label", "give each its own");
}

TEST_CASE("auto uses the format of the tensor, or int8 if requested") {
  input::Json json = good_config();
  json.erase("baseline");
  json["collectives"] =
      input::parse_json(R"([{"algorithm": "auto"}, {"algorithm": "auto", "format": "int8"}])");
  const ExperimentConfig config = read_config(json);
  CHECK_FALSE(config.collectives[0].format.scaled);
  CHECK(config.collectives[1].format.scaled);
}

/// good_config() with one collective between slices.
input::Json between_slices(const std::string& collective) {
  input::Json json = changed("/collectives", "[" + collective + "]");
  json["topology"]["network"] = {{"slices", 2}, {"bandwidth", "10 GB/s"}, {"latency", "5 us"}};
  json.erase("baseline");
  return json;
}

TEST_CASE("the format between slices may differ") {
  const auto read = [](const std::string& text) {
    return read_config(between_slices(text)).collectives.front();
  };
  using collectives::Phase;
  const CollectiveConfig outer =
      read(R"({"algorithm": "hierarchical", "between": {"format": "int4", "layout": "contiguous",
               "block": 32}})");
  constexpr numerics::ElementFormat kType = numerics::ElementFormat::bf16;
  CHECK(outer.label == "hierarchical bf16, int4 between slices");
  CHECK_FALSE(wire_format(outer, Phase::reduce_scatter, kType).scaled);
  CHECK(wire_format(outer, Phase::all_gather_between, kType).element ==
        numerics::ElementFormat::int4);
  CHECK(wire_format(outer, Phase::reduce_scatter_between, kType).block == 32);
  const input::Json json = collective_json(outer, collectives::Collective::all_reduce);
  CHECK(json["between"]["format"] == "int4");
  CHECK(json["elements_per_scale"] == 128);  // of int4
  const CollectiveConfig even = read(
      R"({"algorithm": "hierarchical", "between": {"format": "mxfp4", "scale_rounding": "even"}})");
  CHECK(even.label == "hierarchical bf16, mxfp4, scales even between slices");
  CHECK(wire_format(even, Phase::all_gather_between, kType).scale_rounding ==
        numerics::ScaleRounding::even);
  CHECK(collective_json(even, collectives::Collective::all_reduce)["between"]["scale_rounding"] ==
        "even");
  const CollectiveConfig again = read(json.dump());
  CHECK(static_cast<const numerics::BlockFormat&>(*again.between) == *outer.between);
  // Without "between", both levels use the same format.
  const CollectiveConfig alike = read(R"({"algorithm": "hierarchical", "format": "int8",
                                          "quantize": "reduce-scatter"})");
  CHECK(wire_format(alike, Phase::reduce_scatter_between, kType).scaled);
  CHECK_FALSE(wire_format(alike, Phase::all_gather_between, kType).scaled);
}

TEST_CASE("an invalid format between slices is refused with the remedy") {
  const auto refuse = [](const std::string& text, const std::string& place,
                         const std::string& remedy) {
    CAPTURE(text);
    check_refused([&] { read_config(between_slices(text)); }, "/collectives/0" + place, remedy);
  };
  refuse(R"({"algorithm": "two-shot", "between": {"format": "int8"}})", "/between",
         "for \"hierarchical\", \"hierarchical-two-shot\" and \"qgz\"; remove it");
  refuse(R"({"algorithm": "auto", "between": {"format": "int8"}})", "/between", "remove it");
  refuse(R"({"algorithm": "hierarchical", "between": "int8"})", "/between", "expected an object");
  refuse(R"({"algorithm": "hierarchical", "between": {"format": "int9"}})", "/between/format",
         "; without: bf16, fp32");
  refuse(R"({"algorithm": "hierarchical", "between": {"quantize": "both"}})", "/between/quantize",
         "for both levels; remove it");
  refuse(R"({"algorithm": "hierarchical", "between": {"format": "global-qsgd-int8"}})",
         "/between/format", "has one scale for all ranks");
  refuse(R"({"algorithm": "hierarchical", "format": "fp8lm-e4m3"})", "/format",
         "has one scale for all ranks, and levels are summed in FP32");
}

}  // namespace
}  // namespace equarx::config::collective_json_test
