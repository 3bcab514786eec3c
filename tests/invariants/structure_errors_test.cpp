// Structural errors of a configuration: the reader reports a remedy in one line, and the published
// schema refuses them too.
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::testing::structure_errors_test {
namespace {

/// Structural errors, refused by the published schema and by the reader.
const std::vector<Mistake>& structural_mistakes() {
  static const std::vector<Mistake> mistakes = {
      // Unknown keys, at each level, with the nearest valid one.
      {"/hardwares", "1", "/hardwares", "did you mean 'hardware'?"},
      {"/numeric", "on", "/numeric", "did you mean 'numerics'?"},
      {"/", "1", "/", "unknown key ''"},
      {"/topology/wrap", "1", "/topology/wrap", "use one of slice, mesh, torus"},
      {"/tensor/dype", "fp32", "/tensor/dype", "did you mean 'dtype'?"},
      {"/tensor/values/distrbution", "normal", "/tensor/values/distrbution",
       "did you mean 'distribution'?"},
      {"/collectives/1/minishard", "4", "/collectives/1/minishard", "did you mean 'minishards'?"},
      {"/collectives/0/fromat", "bf16", "/collectives/0/fromat", "did you mean 'format'?"},
      {"/a~1b", "1", "/a~1b", "unknown key 'a/b'"},
      // Wrong types.
      {"/hardware", "1", "/hardware", "or an object like"},
      {"/hardware", "null", "/hardware", "found null"},
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
      {"/tensor/bytes", "45.5", "/tensor/bytes", "a size with its unit, like \"32 MiB\""},
      {"/tensor/dtype", "fp64", "/tensor/dtype", "one of fp32, bf16"},
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
      {"/numerics", "1", "/numerics", "expected one of off, on"},
      {"/wire_buffers", "hmb", "/wire_buffers", "did you mean 'hbm'?"},
      {"/wire_buffers", "true", "/wire_buffers", "expected one of vmem, hbm"},
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
       "0 is not a factor from"},
      // Mutually exclusive keys.
      {"/tensor", R"({"shape": [4], "bytes": "8 B"})", "/tensor",
       "both 'shape' and 'bytes'; give one"},
      {"/topology", R"({"slice": "2x2", "ring": 4})", "/topology", "both 'slice' and 'ring'"}};
  return mistakes;
}

TEST_CASE("structural errors are refused by the reader") { check_mistakes(structural_mistakes()); }

TEST_CASE("structural errors are refused by the schema") {
  for (const Mistake& mistake : structural_mistakes()) {
    CAPTURE(mistake.pointer, mistake.value);
    CHECK_THROWS_AS(input::check_schema(changed(mistake.pointer, mistake.value), "experiment"),
                    input::InputError);
  }
}

TEST_CASE("missing required keys are refused by reader and schema") {
  for (const std::string key : {"hardware", "topology", "tensor", "collectives"}) {
    input::Json json = good_config();
    json.erase(key);
    check_refused([&] { config::read_config(json); }, "/" + key, "is missing; expected ");
    CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
  }
  input::Json json = good_config();
  json["collectives"][0].erase("algorithm");
  check_refused([&] { config::read_config(json); }, "/collectives/0/algorithm",
                "expected one of ring, equarx");
  CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
}

TEST_CASE("a misspelt required key is an unknown key") {
  for (const auto& [key, wrong] :
       std::vector<std::pair<std::string, std::string>>{{"hardware", "Hardware"},
                                                        {"topology", "topolgy"},
                                                        {"tensor", "tensors"},
                                                        {"collectives", "collectivs"}}) {
    input::Json json = good_config();
    json[wrong] = json[key];
    json.erase(key);
    check_refused([&] { config::read_config(json); }, "/" + wrong,
                  "unknown key '" + wrong + "'; did you mean '" + key + "'?");
  }
}

TEST_CASE("a document other than an object is refused") {
  for (const std::string text : {"[]", "null", "1", "\"x\"", "true"}) {
    CHECK_THROWS_AS(config::read_config(input::parse_json(text)), input::InputError);
    CHECK_THROWS_AS(input::check_schema(input::parse_json(text), "experiment"), input::InputError);
  }
}

TEST_CASE("line breaks and escapes in the input keep the message on one line") {
  const input::Json json = changed("/hardware", R"("a\nb\u001b[31m\r\t\u007f")");
  const std::string message = message_of([&] { config::read_config(json); });
  for (const char c : message) CHECK((static_cast<unsigned char>(c) >= ' ' && c != '\x7f'));
  input::Json keys = good_config();
  keys["a\nb"] = 1;
  check_refused([&] { config::read_config(keys); }, "/a?b", "unknown key");
}

}  // namespace
}  // namespace equarx::testing::structure_errors_test
