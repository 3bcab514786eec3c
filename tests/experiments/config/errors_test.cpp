// Every way to get a configuration wrong: each is one line with its place and a remedy.
#include "tests/support/errors.hpp"

#include <functional>
#include <string>
#include <vector>

#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::config {
namespace {

using testing::changed;
using testing::check_refused;
using testing::good_config;
using testing::plan_of;

/// A change to the good configuration, and the message that it must give.
struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
};

void check_all(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    check_refused([&] { plan_of(changed(mistake.pointer, mistake.value)); }, mistake.place,
                  mistake.remedy);
  }
}

/// Mistakes of structure, which the published schema refuses as well as the reader.
const std::vector<Mistake>& structural_mistakes() {
  static const std::vector<Mistake> mistakes = {
      // Unknown keys, at each level, with the nearest valid one.
      {"/hardwares", "1", "/hardwares", "did you mean 'hardware'?"},
      {"/numeric", "on", "/numeric", "did you mean 'numerics'?"},
      {"/", "1", "/", "unknown key ''"},
      {"/topology/wrap", "1", "/topology/wrap", "did you mean"},
      {"/tensor/dype", "fp32", "/tensor/dype", "did you mean 'dtype'?"},
      {"/tensor/values/distrbution", "normal", "/tensor/values/distrbution",
       "did you mean 'distribution'?"},
      {"/collectives/1/minishard", "4", "/collectives/1/minishard", "did you mean 'minishards'?"},
      {"/collectives/0/fromat", "bf16", "/collectives/0/fromat", "did you mean 'format'?"},
      {"/a~1b", "1", "/a~1b", "unknown key 'a/b'"},
      // Wrong types.
      {"/hardware", "1", "/hardware", "expected a string, found a number"},
      {"/hardware", "null", "/hardware", "expected a string, found null"},
      {"/topology", "[]", "/topology", "expected an object, found an array"},
      {"/topology", "4x2", "/topology", "expected an object, found a string"},
      {"/topology/slice", "4", "/topology/slice", "expected a string, found a number"},
      {"/topology/mesh", "[4, 2]", "/topology/mesh", "expected a string, found an array"},
      {"/topology/ring", "\"8\"", "/topology/ring", "expected an integer, found a string"},
      {"/topology/ring", "3.5", "/topology/ring", "is not an integer"},
      {"/topology", R"({"torus": "4x4", "wraparound": [1, 0]})", "/topology/wraparound",
       "true or false for each of the 2 axes"},
      {"/topology", R"({"torus": "4x4", "wraparound": true})", "/topology/wraparound",
       "expected an array"},
      {"/tensor", "[4096]", "/tensor", "expected an object"},
      {"/tensor/shape", "7", "/tensor/shape", "expected an array, found a number"},
      {"/tensor/shape", "\"4096\"", "/tensor/shape", "expected an array, found a string"},
      {"/tensor/shape", "[\"a\"]", "/tensor/shape/0", "expected an integer, found a string"},
      {"/tensor/shape", "[4, 1.5]", "/tensor/shape/1", "1.5 is not an integer"},
      {"/tensor/shape", "[4, null]", "/tensor/shape/1", "found null"},
      {"/tensor/shape", "[[4]]", "/tensor/shape/0", "expected an integer, found an array"},
      {"/tensor/bytes", "45", "/tensor/bytes", "a size with its unit, like \"32 MiB\""},
      {"/tensor/dtype", "fp16", "/tensor/dtype", "one of fp32, bf16"},
      {"/tensor/dtype", "16", "/tensor/dtype", "expected one of fp32, bf16"},
      {"/tensor/values", "1", "/tensor/values", "expected an object"},
      {"/tensor/values/seed", "-1", "/tensor/values/seed", "is not an integer from 0"},
      {"/tensor/values/seed", "1.5", "/tensor/values/seed", "is not an integer from 0"},
      {"/tensor/values/seed", "\"1\"", "/tensor/values/seed", "expected an integer"},
      {"/tensor/values/seed", "9223372036854775808", "/tensor/values/seed", "is not an integer"},
      {"/tensor/values/distribution", "gauss", "/tensor/values/distribution",
       "one of normal, uniform, heavy-tailed"},
      {"/tensor/values/ranks", "same", "/tensor/values/ranks", "one of independent, identical"},
      {"/collectives", "{}", "/collectives", "expected an array, found an object"},
      {"/collectives/0", "1", "/collectives/0", "expected an object"},
      {"/collectives/0/label", "7", "/collectives/0/label", "expected a string"},
      {"/collectives/1/algorithm", "equrx", "/collectives/1/algorithm", "did you mean 'equarx'?"},
      {"/collectives/1/ring", "semi", "/collectives/1/ring", "did you mean 'semi-loop'?"},
      {"/collectives/1/quantize", "all", "/collectives/1/quantize",
       "one of reduce-scatter, all-gather, both"},
      {"/collectives/1/quantize", "true", "/collectives/1/quantize", "expected one of"},
      {"/collectives/1/scale", "fp16", "/collectives/1/scale", "one of fp32, bf16"},
      {"/collectives/1/layout", "stride", "/collectives/1/layout", "did you mean 'strided'?"},
      {"/collectives/1/minishards", "\"8\"", "/collectives/1/minishards", "expected an integer"},
      {"/collectives/1/minishards", "1.5", "/collectives/1/minishards", "is not an integer"},
      {"/collectives/1/microshards", "true", "/collectives/1/microshards", "expected an integer"},
      {"/baseline", "1", "/baseline", "expected one of bf16, int8"},
      {"/numerics", "true", "/numerics", "expected one of off, on"},
      {"/simulation", "Full", "/simulation", "did you mean 'full'?"},
      // Negative and zero sizes.
      {"/topology/ring", "0", "/topology/ring", "is not an integer from 1"},
      {"/topology/ring", "-3", "/topology/ring", "is not an integer from 1"},
      {"/tensor/shape", "[0]", "/tensor/shape/0", "is not an integer from 1"},
      {"/tensor/shape", "[4, -1]", "/tensor/shape/1", "is not an integer from 1"},
      {"/collectives/1/minishards", "0", "/collectives/1/minishards", "from 1 to 1048576"},
      {"/collectives/1/minishards", "-8", "/collectives/1/minishards", "from 1 to 1048576"},
      {"/collectives/1/microshards", "0", "/collectives/1/microshards", "from 1 to 1048576"},
      // Empty.
      {"/tensor/shape", "[]", "/tensor/shape", "at least one length, like [4096]"},
      {"/collectives", "[]", "/collectives", "name at least one"},
      {"/topology/slice", "\"\"", "/topology/slice", "such as \"4x2\""},
      {"/topology/mesh", "4x", "/topology/mesh", "such as \"4x2\""},
      {"/topology/torus", "axb", "/topology/torus", "such as \"4x2\""},
      {"/topology", "{}", "/topology", "needs one of slice, mesh, torus, ring"},
      {"/tensor", "{}", "/tensor", "\"shape\": [4096, 4096] or \"bytes\": \"32 MiB\""},
      {"/topology/fully-connected", "0", "/topology/fully-connected", "from 1 to 1024"},
      {"/topology/fully-connected", "1025", "/topology/fully-connected", "from 1 to 1024"},
      {"/topology/fully-connected", "\"8\"", "/topology/fully-connected", "expected an integer"},
      {"/topology/file", "7", "/topology/file", "expected a string, found a number"},
      {"/topology/avoid", "{}", "/topology/avoid", "expected an array, found an object"},
      {"/topology/avoid", R"j(["(0,0)"])j", "/topology/avoid/0", "the names of two chips"},
      {"/topology/avoid", R"j([["(0,0)"]])j", "/topology/avoid/0", "the names of two chips"},
      {"/topology/avoid", R"j([["(0,0)", "(0,1)", "(1,1)"]])j", "/topology/avoid/0", "two chips"},
      {"/topology/avoid", R"j([["(0,0)", null]])j", "/topology/avoid/0/1", "the name of a chip"},
      {"/collective", "\"\"", "/collective", "one of all-reduce"},
      {"/faults", "[]", "/faults", "expected an object"},
      {"/faults", R"({"links": [{"between": ["a"]}]})", "/faults/links/0/between", "two chips"},
      {"/faults", R"j({"chips": [{"chip": "(0,0)", "slowdown": 0}]})j", "/faults/chips/0/slowdown",
       "above 0"},
      // Alternatives together.
      {"/tensor", R"({"shape": [4], "bytes": "8 B"})", "/tensor",
       "both 'shape' and 'bytes'; give one"},
      {"/topology", R"({"slice": "2x2", "ring": 4})", "/topology", "both 'slice' and 'ring'"}};
  return mistakes;
}

TEST_CASE("mistakes of structure are refused by the reader") { check_all(structural_mistakes()); }

TEST_CASE("mistakes of structure are refused by the schema, too") {
  for (const Mistake& mistake : structural_mistakes()) {
    CAPTURE(mistake.pointer, mistake.value);
    CHECK_THROWS_AS(input::check_schema(changed(mistake.pointer, mistake.value), "experiment"),
                    input::InputError);
  }
}

TEST_CASE("required keys that are missing are refused by reader and schema") {
  for (const std::string key : {"hardware", "topology", "tensor", "collectives"}) {
    input::Json json = good_config();
    json.erase(key);
    check_refused([&] { read_config(json); }, "/" + key, "is missing; expected ");
    CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
  }
  input::Json json = good_config();
  json["collectives"][0].erase("algorithm");
  check_refused([&] { read_config(json); }, "/collectives/0/algorithm",
                "expected one of ring, equarx");
  CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
}

TEST_CASE("a required key that is misspelt is an unknown key") {
  for (const auto& [key, wrong] :
       std::vector<std::pair<std::string, std::string>>{{"hardware", "Hardware"},
                                                        {"topology", "topolgy"},
                                                        {"tensor", "tensors"},
                                                        {"collectives", "collectivs"}}) {
    input::Json json = good_config();
    json[wrong] = json[key];
    json.erase(key);
    check_refused([&] { read_config(json); }, "/" + wrong,
                  "unknown key '" + wrong + "'; did you mean '" + key + "'?");
  }
}

TEST_CASE("a document that is no object is refused") {
  for (const std::string text : {"[]", "null", "1", "\"x\"", "true"}) {
    CHECK_THROWS_AS(read_config(input::parse_json(text)), input::InputError);
    CHECK_THROWS_AS(input::check_schema(input::parse_json(text), "experiment"), input::InputError);
  }
}

TEST_CASE("sizes without unit, of another unit, or of no whole element are refused") {
  check_all({{"/tensor/bytes", "\"45\"", "/tensor/bytes", "'45' has no unit"},
             {"/tensor/bytes", "45 GB/s", "/tensor/bytes", "'GB/s' is not a unit of a size"},
             {"/tensor/bytes", "4x", "/tensor/bytes", "like \"32 MiB\""},
             {"/tensor/bytes", "", "/tensor/bytes", "like \"32 MiB\""},
             {"/tensor/bytes", "NaN B", "/tensor/bytes", "like \"32 MiB\""},
             {"/tensor/bytes", "inf B", "/tensor/bytes", "like \"32 MiB\""},
             {"/tensor/bytes", "-2 B", "/tensor/bytes", "positive whole number of bf16 elements"},
             {"/tensor/bytes", "0 B", "/tensor/bytes", "positive whole number of bf16 elements"},
             {"/tensor/bytes", "3 B", "/tensor/bytes", "positive whole number of bf16 elements"},
             {"/tensor/bytes", "2.5 B", "/tensor/bytes", "whole number of bf16 elements"}});
}

TEST_CASE("sizes beyond all machines are refused, and do not overflow") {
  check_all({{"/tensor/shape", "[9223372036854775808]", "/tensor/shape/0", "is not an integer"},
             {"/tensor/shape", "[9223372036854775807]", "/tensor/shape/0", "is not an integer"},
             {"/tensor/shape", "[18446744073709551616]", "/tensor/shape/0", "is not an integer"},
             {"/tensor/shape", "[4294967296, 4294967296]", "/tensor/shape", "elements in all"},
             {"/tensor/shape", "[281474976710656, 2]", "/tensor/shape", "elements in all"},
             {"/tensor/bytes", "1e300 PB", "/tensor/bytes", "is too large"},
             {"/tensor/bytes", "9223372036854775808 B", "/tensor/bytes", "bf16 elements"},
             {"/tensor/bytes", "1e200 B", "/tensor/bytes", "bf16 elements"},
             {"/collectives/1/minishards", "9223372036854775808", "/collectives/1/minishards",
              "from 1 to 1048576"},
             {"/collectives/1/minishards", "4294967297", "/collectives/1/minishards",
              "from 1 to 1048576"},
             {"/topology/ring", "9223372036854775808", "/topology/ring", "is not an integer"},
             {"/topology/mesh", "65536x65536x65536x65536", "/topology/mesh", "smaller grid"},
             {"/topology/mesh", "99999999999999999999x2", "/topology/mesh", "smaller grid"}});
}

TEST_CASE("a slice that is not offered is refused with those that are") {
  check_all({{"/topology/slice", "3x3", "/topology/slice", "2x2, 2x4, 4x4, 4x8"},
             {"/topology/slice", "2x8", "/topology/slice", "use \"mesh\" or \"torus\""},
             {"/topology/slice", "4x4x4", "/topology/slice", "axes in any order"},
             {"/topology/slice", "\"8\"", "/topology/slice", "axes in any order"}});
}

TEST_CASE("a machine without a ring is refused with what to use instead") {
  check_all({{"/topology/mesh", "3x3", "/topology", "use a slice with an even side, or a torus"},
             {"/topology/mesh", "5x3x3", "/topology", "or a torus"},
             {"/topology/mesh", "\"4\"", "/topology", "a wrapped axis"},
             {"/topology/mesh", "1x4", "/topology", "a wrapped axis"},
             {"/topology", R"({"torus": "3x3", "wraparound": [false, false]})", "/topology",
              "or a torus"}});
}

TEST_CASE("cables to avoid must exist") {
  check_all(
      {{"/topology/avoid", R"j([["(0,0)", "(9,9)"]])j", "/topology/avoid/0/1",
        "there is no chip '(9,9)'; did you mean '(0,0)'?"},
       {"/topology/avoid", R"j([["(0,0)", "(0,1)"], ["(0,0)", "(2,0)"]])j", "/topology/avoid/1",
        "no cable joins (0,0) and (2,0); (0,0) is joined to (0,1), (1,0)"},
       {"/topology/avoid", R"j([["(0,0)", "(0,0)"]])j", "/topology/avoid/0", "no cable joins"},
       {"/topology", R"({"fully-connected": 9, "avoid": [[0, 9]]})", "/topology/avoid/0/1",
        "there is no chip '9'"},
       {"/topology", R"({"mesh": "4096x4096", "avoid": []})", "/topology", "at most 131072"}});
}

TEST_CASE("a ring that the avoided cables break is refused with the cables") {
  check_all({{"/topology/avoid", R"j([["(0,0)", "(0,1)"]])j", "/topology",
              "no Hamiltonian ring exists on the slice 4x2 without the cables (0,0) - (0,1): chip "
              "(0,0) has only 1 usable cable, and a ring needs 2; avoid fewer cables"},
             {"/topology", R"({"fully-connected": 3, "avoid": [[0, 1], [1, 2], [2, 0]]})",
              "/topology", "without the cables 0 - 1, 1 - 2, 2 - 0: chip 0 has only 0 usable"}});
}

TEST_CASE("one chip has nobody to talk to") {
  check_all({{"/topology/slice", "1x1", "/topology", "at least two chips"},
             {"/topology/ring", "1", "/topology", "at least two chips"},
             {"/topology/torus", "1x1x1", "/topology", "at least two chips"}});
}

TEST_CASE("wraparound is given for each axis of a torus, and for nothing else") {
  check_all({{"/topology", R"({"torus": "4x4", "wraparound": [true]})", "/topology/wraparound",
              "each of the 2 axes"},
             {"/topology", R"({"torus": "4x4", "wraparound": []})", "/topology/wraparound",
              "each of the 2 axes"},
             {"/topology", R"({"mesh": "4x4", "wraparound": [true, true]})", "/topology/wraparound",
              "unknown key"}});
}

TEST_CASE("more parts than elements are refused") {
  // 65536 elements: 4096 for each of 8 ranks in each of two directions.
  CHECK_NOTHROW(plan_of(changed("/collectives/1/minishards", "2048")));
  check_all({{"/collectives/1/minishards", "2049", "/collectives/1", "use fewer"},
             {"/collectives/1/minishards", "1048576", "/collectives/1", "4096 elements"},
             {"/collectives/1/microshards", "1048576", "/collectives/1", "use fewer"},
             {"/collectives/0/microshards", "4097", "/collectives/0", "use fewer"}});
}

TEST_CASE("what belongs to one algorithm or layout is refused for another") {
  check_all({{"/collectives/0/quantize", "both", "/collectives/0/quantize", "remove it"},
             {"/collectives/0/scale", "fp32", "/collectives/0/scale", "remove it"},
             {"/collectives/0/format", "int9", "/collectives/0/format", "one of bf16, fp32"},
             {"/collectives/0/elements_per_scale", "64", "/collectives/0/elements_per_scale",
              "remove it"},
             {"/collectives/1/elements_per_scale", "64", "/collectives/1/elements_per_scale",
              "minishards"},
             {"/collectives/1/format", "bf16", "/collectives/1/format", "is not quantized"},
             {"/collectives/1/block", "32", "/collectives/1/block", "contiguous"},
             {"/collectives/1/layout", "contiguous", "/collectives/1/block", "is missing"}});
}

TEST_CASE("an algorithm that the collective does not have is refused with those it has") {
  check_all({{"/collective", "allreduce", "/collective", "did you mean 'all-reduce'?"},
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
  const std::string halves = "one of ring, equarx, torus, halving-doubling, direct, auto";
  refuse("reduce-scatter", "two-shot", halves);
  refuse("all-gather", "one-shot", halves);
  refuse("all-gather", "recursive-doubling", halves);
  refuse("all-to-all", "ring", "one of direct, auto");
  refuse("all-to-all", "equarx", "one of direct, auto");
  refuse("broadcast", "torus", "one of ring, direct, auto");
  refuse("broadcast", "equarx", "one of ring, direct, auto");
}

TEST_CASE("an algorithm that the topology cannot run is refused with those that can") {
  const auto refuse = [](const std::string& topology, const std::string& algorithm,
                         const std::string& why, const std::string& others) {
    input::Json json = changed("/topology", topology);
    json["collectives"] = {{{"algorithm", algorithm}}};
    json.erase("baseline");
    CAPTURE(topology, algorithm);
    check_refused([&] { plan_of(json); }, "/collectives/0/algorithm", why);
    check_refused([&] { plan_of(json); }, "/collectives/0/algorithm",
                  "this topology can run " + others);
  };
  const std::string no_halving = "ring, equarx, torus, two-shot, one-shot, auto";
  refuse(R"({"ring": 6})", "halving-doubling", "needs a power of two of chips, and there are 6",
         no_halving);
  refuse(R"({"torus": "3x4"})", "recursive-doubling", "power of two", no_halving);
  refuse(R"({"fully-connected": 6})", "torus", "needs a grid of chips",
         "ring, equarx, two-shot, one-shot, auto");
  refuse(R"({"fully-connected": 8})", "torus", "needs a grid of chips",
         "ring, equarx, two-shot, halving-doubling, recursive-doubling, one-shot, auto");
  for (const std::string algorithm :
       {"torus", "halving-doubling", "recursive-doubling", "one-shot", "two-shot"})
    refuse(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j", algorithm,
           "cannot go round the cables of /topology/avoid", "ring, equarx, auto");
}

TEST_CASE("keys that an algorithm has no use for are refused") {
  const auto refuse = [](const std::string& collective, const std::string& text,
                         const std::string& key, const std::string& remedy) {
    input::Json json = changed("/collective", collective);
    json["collectives"] = {input::parse_json(text)};
    json.erase("baseline");
    CAPTURE(collective, text);
    check_refused([&] { read_config(json); }, "/collectives/0/" + key, remedy);
  };
  for (const std::string algorithm :
       {"halving-doubling", "recursive-doubling", "one-shot", "two-shot"})
    refuse("all-reduce", R"({"ring": "full-loop", "algorithm": ")" + algorithm + "\"}", "ring",
           "is for algorithms that go round rings; remove it");
  refuse("all-to-all", R"({"algorithm": "direct", "ring": "semi-loop"})", "ring", "remove it");
  for (const std::string algorithm : {"one-shot", "recursive-doubling"})
    refuse("all-reduce", R"({"quantize": "both", "algorithm": ")" + algorithm + "\"}", "quantize",
           "'" + algorithm + "' has one phase only; remove it");
  for (const std::string collective : {"reduce-scatter", "all-gather"}) {
    refuse(collective, R"({"algorithm": "equarx", "quantize": "both"})", "quantize",
           "the two phases of an AllReduce; remove it");
    refuse(collective, R"({"algorithm": "torus", "quantize": "both"})", "quantize", "remove it");
  }
  refuse("all-to-all", R"({"algorithm": "direct", "scale": "fp32"})", "scale",
         "this one is plain, remove it");
  refuse("all-to-all", R"({"algorithm": "direct", "quantize": "both"})", "quantize", "remove it");
  refuse("all-to-all", R"({"algorithm": "auto", "layout": "strided"})", "layout", "remove it");
  refuse("broadcast", R"({"algorithm": "ring", "block": 32})", "block", "remove it");
  refuse("broadcast", R"({"algorithm": "ring", "format": "int9"})", "format", "one of bf16, fp32");
  refuse("broadcast", R"({"algorithm": "ring", "format": "mxfp4"})", "format", "one of bf16, fp32");
  refuse("all-reduce", R"({"algorithm": "ring", "scale": "fp32"})", "scale",
         "a plain ring has no scales");
  refuse("all-reduce", R"({"algorithm": "torus", "scale": "fp32", "format": "bf16"})", "format",
         "is not quantized");
  refuse("all-reduce", R"({"algorithm": "torus", "elements_per_scale": 64})", "elements_per_scale",
         "quantized collectives");
  refuse("all-reduce", R"({"algorithm": "auto", "format": "int9"})", "format", "one of");
  refuse("all-reduce", R"({"algorithm": "torus", "axes": [0, 1]})", "axes", "unknown key");
}

TEST_CASE("a tensor smaller than its parts is refused, and one of one element is not") {
  for (const std::string algorithm : {"ring", "equarx", "torus", "halving-doubling",
                                      "recursive-doubling", "one-shot", "two-shot", "auto"}) {
    input::Json json = changed("/tensor/shape", "[1]");
    json["collectives"] = {{{"algorithm", algorithm}}};
    json.erase("baseline");
    CAPTURE(algorithm);
    CHECK_NOTHROW(plan_of(json));
    json["collectives"][0]["minishards"] = 7;
    json["collectives"][0]["microshards"] = 5;
    check_refused([&] { plan_of(json); },
                  algorithm == "auto" ? "/collectives/0/algorithm" : "/collectives/0", "use fewer");
  }
}

TEST_CASE("links that together are faster than memory are refused where they are used at once") {
  input::Json json = changed("/topology/fully-connected", "16");
  json["collectives"] = {{{"algorithm", "ring"}}};
  json.erase("baseline");
  CHECK_NOTHROW(plan_of(json));
  json["collectives"][0]["algorithm"] = "two-shot";
  check_refused([&] { plan_of(json); }, "/hardware", "is below the");
  json["topology"] = {{"file", EQUARX_CONFIGS_DIR "/topologies/twisted_torus_4x8.json"}};
  CHECK_NOTHROW(plan_of(json));  // 31 peers, but over 4 links
}

TEST_CASE("labels are unique, and the baseline is one of them") {
  check_all({{"/collectives/1/label", "bf16", "/collectives/1/label", "give each its own"},
             {"/baseline", "bf61", "/baseline", "did you mean 'bf16'? (one of bf16, int8)"},
             {"/baseline", "\"\"", "/baseline", "one of bf16, int8"}});
  check_refused(
      [] { plan_of(changed("/collectives", R"([{"algorithm": "ring"}, {"algorithm": "ring"}])")); },
      "/collectives/1/label", "give each its own");
}

TEST_CASE("hardware that does not exist is refused with what does") {
  check_all({{"/hardware", "tpu-v9", "/hardware",
              "use one of tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, tpu-v7, or the path of"},
             {"/hardware", "\"\"", "/hardware", "use one of tpu-v4"},
             {"/hardware", "none.json", "/hardware", "cannot read none.json"},
             {"/hardware", "/", "/hardware", "is a directory"}});
}

TEST_CASE("symmetric simulation is refused before the run where it cannot be") {
  const std::string remedy = "use \"auto\" or \"full\"";
  const auto refuse = [&](const std::string& pointer, const std::string& value,
                          const std::string& reason) {
    input::Json json = changed(pointer, value);
    json["simulation"] = "symmetric";
    check_refused([&] { plan_of(json); }, "/simulation", reason);
    check_refused([&] { plan_of(json); }, "/simulation", remedy);
  };
  refuse("/collectives/0", R"({"label": "bf16", "algorithm": "one-shot"})",
         "messages pass over more than one link");
  refuse("/collectives/0", R"({"label": "bf16", "algorithm": "torus"})",
         "messages pass over more than one link");  // 4 chips without wraparound
  refuse("/faults", R"j({"links": [{"between": ["(0,0)", "(0,1)"], "bandwidth_factor": 0.5}]})j",
         "its links are not all alike");
  refuse("/faults", R"j({"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "1 s"}]})j",
         "links fail");
  refuse("/faults", R"j({"chips": [{"chip": "(0,0)", "slowdown": 2}]})j",
         "its chips are not all equally fast");
  refuse("/topology/file", EQUARX_CONFIGS_DIR "/topologies/two_islands.json",
         "its links are not all alike");
  input::Json json = changed("/collective", "broadcast");
  override_value(json, "/collectives", R"([{"algorithm": "ring"}])");
  json.erase("baseline");
  json["simulation"] = "symmetric";
  check_refused([&] { plan_of(json); }, "/simulation", "its chips do different things");
}

TEST_CASE("line breaks and escapes in the input do not break the line of the message") {
  const input::Json json = changed("/hardware", R"("a\nb\u001b[31m\r\t\u007f")");
  const std::string message = testing::message_of([&] { read_config(json); });
  for (const char c : message) CHECK((static_cast<unsigned char>(c) >= ' ' && c != '\x7f'));
  input::Json keys = good_config();
  keys["a\nb"] = 1;
  check_refused([&] { read_config(keys); }, "/a?b", "unknown key");
}

}  // namespace
}  // namespace equarx::config
