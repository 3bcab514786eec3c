#include "experiments/config/scheme_json.hpp"

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::scheme_json_test {
namespace {

gemm::Scheme read(const std::string& text) { return read_scheme(input::parse_json(text)); }

void check_bad(const std::string& text, const std::string& place, const std::string& remedy) {
  CAPTURE(text);
  equarx::testing::check_refused([&] { read(text); }, place, remedy);
}

TEST_CASE("schemes: every file of configs/schemes is read and written back") {
  for (const input::EmbeddedFile& file : input::embedded_schemes()) {
    CAPTURE(file.name);
    const gemm::Scheme scheme = load_scheme(std::string(file.name), "");
    CHECK(!scheme.source.empty());
    CHECK(read_scheme(scheme_json(scheme)) == scheme);
    CHECK_NOTHROW(input::check_schema(input::parse_json(file.text), "scheme"));
  }
  CHECK(scheme_names().size() >= 12);
}

TEST_CASE("schemes: formats are names or objects, and sums follow from the unit") {
  const gemm::Scheme named = read(R"({"weights": "int4-row128"})");
  CHECK(named.weights->elements.bits == 4);
  CHECK(named.accumulate == gemm::Accumulator::fp32);
  CHECK(!named.activations);
  const gemm::Scheme written = read(
      R"({"weights": {"elements": {"integer": 8}, "groups": {"along": "row"}},
          "activations": "int8-row", "unit": "int8", "scales": "end"})");
  CHECK(written.accumulate == gemm::Accumulator::int32);
  CHECK(written.weights->groups.along == stored::Along::row);
}

TEST_CASE("schemes: bad input is refused at its place") {
  check_bad(R"({"weights": "nf5"})", "/weights", "did you mean");
  check_bad(R"({"weights": "missing.json"})", "/weights", "missing.json");
  check_bad(R"({"weights": {"elements": {"integer": 9}}})", "/weights/elements/integer", "8");
  check_bad(R"({"unit": "int4"})", "/unit", "int8");
  check_bad(R"({"unit": "int8", "scales": "end"})", "/weights", "need a format of integers");
  check_bad(R"({"accumulate": "int32"})", "/accumulate", "int8");
  check_bad(R"({"weights": "squeezellm-3bit", "scales": "by-group"})", "/scales", "fitted tables");
  check_bad(R"({"weight": "nf4"})", "/weight", "did you mean");
  equarx::testing::check_refused([] { load_scheme("w4a8", "--scheme"); }, "--scheme",
                                 "or the path of a scheme file");
}

}  // namespace
}  // namespace equarx::config::scheme_json_test
