#include "experiments/config/precision_json.hpp"

#include <string>

#include "base/input/schema.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::config::precision_json_test {
namespace {

using hardware::MatrixType;
using steps::Precision;
using steps::Scaling;

/// Reads a configuration with this "precision".
Precision read(const input::Json& precision) {
  const input::Json training = {{"precision", precision}};
  input::ObjectReader reader(training, "/step/training");
  return read_precision(reader);
}

TEST_CASE("a recipe is found by name, also in an object") {
  for (const Precision& recipe : steps::precisions()) {
    const std::string name(recipe.name);
    CHECK(read(name).ffn == recipe.ffn);
    CHECK(read({{"recipe", name}}).name == recipe.name);
    CHECK(precision_json(read(name)) == name);
  }
  const input::Json none = input::Json::object();
  input::ObjectReader reader(none, "/step/training");
  CHECK(read_precision(reader).name == "bf16");
}

TEST_CASE("classes are overridden one by one, and the result has no recipe name") {
  const Precision precision = read({{"recipe", "fog"}, {"head", "fp32"}});
  CHECK(precision.name.empty());
  CHECK(precision.attention.forward == MatrixType::fp8);
  CHECK(precision.head.weight_gradient == MatrixType::fp32);
  CHECK(read({{"recipe", "fog"}, {"head", "bf16"}}).name == "fog");
}

TEST_CASE("backward matmuls default to the type of the forward ones") {
  const Precision precision = read({{"ffn", {{"forward", "int8"}, {"weight_gradient", "bf16"}}}});
  CHECK(precision.ffn.input_gradient == MatrixType::int8);
  CHECK(precision.ffn.weight_gradient == MatrixType::bf16);
  CHECK(precision.ffn.scaling == Scaling::rows);
  CHECK(read({{"ffn", "fp4"}}).ffn.scaling == Scaling::mx);
  CHECK(read({{"attention", "int8"}}).attention.scaling == Scaling::delayed);
}

TEST_CASE("a precision survives a round trip and matches the schema") {
  for (const input::Json& precision :
       {input::Json{{"ffn", "fp8"}}, input::Json{{"recipe", "fog"}, {"head", "fp32"}},
        input::Json{{"projections", {{"forward", "fp8"}, {"scaling", "blocks"}}},
                    {"attention", {{"forward", "bf16"}, {"input_gradient", "fp8"}}}}}) {
    input::Json config = testing::good_training();
    config["step"]["training"]["precision"] = precision;
    input::check_schema(config, "step");
    config["step"]["training"]["precision"] = precision_json(read(precision));
    input::check_schema(config, "step");
    CHECK(precision_json(read(config["step"]["training"]["precision"])) ==
          config["step"]["training"]["precision"]);
  }
}

TEST_CASE("impossible precisions are refused with the pointer and the remedy") {
  struct Wrong {
    input::Json precision;
    std::string place, says;
  };
  for (const Wrong& wrong : {
           Wrong{"fp9", "/precision", "use one of"},
           {3, "/precision", "expected"},
           {{{"ffn", "fp16"}}, "/precision/ffn", "use one of bf16, fp32"},
           {{{"fnn", "fp8"}}, "/precision/fnn", "did you mean 'ffn'?"},
           {{{"recipe", "frog"}}, "/precision/recipe", "did you mean 'fog'?"},
           {{{"attention", "fp4"}},
            "/precision/attention",
            "matmuls of attention do not support fp4"},
           {{{"attention", {{"forward", "fp8"}, {"weight_gradient", "fp8"}}}},
            "/precision/attention/weight_gradient",
            "no weights"},
           {{{"attention", {{"forward", "fp8"}, {"scaling", "rows"}}}},
            "/precision/attention/scaling",
            R"(use "delayed" or "current")"},
           {{{"ffn", {{"forward", "fp4"}, {"scaling", "delayed"}}}},
            "/precision/ffn/scaling",
            R"(use "mx" or "nv")"},
           {{{"ffn", {{"scaling", "mx"}}}}, "/precision/ffn/scaling", "no type of this class"},
           {{{"ffn", {{"forward", "fp8"}, {"backward", "fp8"}}}},
            "/precision/ffn/backward",
            "unknown key"},
       }) {
    CAPTURE(wrong.precision.dump());
    testing::check_refused([&] { read(wrong.precision); }, "/step/training" + wrong.place,
                           wrong.says);
  }
}

}  // namespace
}  // namespace equarx::config::precision_json_test
