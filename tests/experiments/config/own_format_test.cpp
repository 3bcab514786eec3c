#include "experiments/config/own_format.hpp"

#include <string>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::own_format_test {
namespace {

using testing::check_refused;
using testing::good_config;

input::Json with_collective(const std::string& text) {
  input::Json json = good_config();
  json["collectives"][1] = input::parse_json(text);
  json["collectives"][1]["label"] = "x";
  json["numerics"] = "off";
  return json;
}

TEST_CASE("an own format states size and work, and is written as it is read") {
  const ExperimentConfig config = read_config(with_collective(R"({
    "algorithm": "equarx", "format": "own",
    "codec": {"name": "mine", "bits_per_element": 8.25, "block": 32, "encode_operations": 8,
              "decode_operations": 3}})"));
  const NamedBlockFormat& format = config.collectives[1].format;
  CHECK(format.name == "mine");
  CHECK(format.rule == numerics::ScaleRule::own);
  CHECK(format.scaled);
  CHECK(format.block == 32);
  CHECK(format.own == numerics::OwnCodes{8.25, 8.0, 3.0});
  const ExperimentConfig again = read_config(to_json(config));
  CHECK(again.collectives[1].format == format);
  CHECK(again.collectives[1].format.name == "mine");
}

TEST_CASE("blocks and operations of an own format have defaults") {
  const NamedBlockFormat format = read_config(with_collective(
                                                  R"({"algorithm": "two-shot", "format": "own",
                          "codec": {"name": "mine", "bits_per_element": 4}})"))
                                      .collectives[1]
                                      .format;
  CHECK(format.block == 1);
  CHECK(format.own == numerics::OwnCodes{4.0, 0.0, 0.0});
}

TEST_CASE("incomplete and contradictory own formats are refused") {
  const auto refused = [](const std::string& keys, const std::string& place,
                          const std::string& remedy) {
    CAPTURE(keys);
    check_refused([&] { read_config(with_collective("{" + keys + "}")); },
                  "/collectives/1/" + place, remedy);
  };
  const std::string own = R"("algorithm": "equarx", "format": "own")";
  refused(own, "format", R"(needs "codec")");
  refused(R"("algorithm": "equarx", "codec": {"name": "a", "bits_per_element": 4})", "codec",
          R"(add that, or remove it)");
  refused(own + R"(, "codec": {"name": "a"})", "codec/bits_per_element", "missing");
  for (const std::string bits : {"0", "-1", "65", "\"8\""})
    refused(own + R"(, "codec": {"name": "a", "bits_per_element": )" + bits + "}",
            "codec/bits_per_element", "number");
  const std::string codec = R"(, "codec": {"name": "a", "bits_per_element": 4)";
  refused(own + codec + R"(}, "scale": "bf16")", "scale", "remove it");
  refused(own + codec + R"(, "scale": 1})", "codec/scale", "unknown");
  refused(own + R"(, "codec": {"name": "", "bits_per_element": 4})", "codec/name", "like");
  refused(own + codec + R"(, "encode_operations": -1})", "codec/encode_operations", "from 0");
  refused(R"("algorithm": "binomial-tree")" + codec + "}", "codec", "remove it");
}

TEST_CASE("own formats are refused where values are computed") {
  input::Json json = with_collective(R"({"algorithm": "equarx", "format": "own",
                                         "codec": {"name": "mine", "bits_per_element": 4}})");
  const ExperimentConfig config = read_config(json);
  const auto check = [&] { check_have_values(config.collectives); };
  check_refused(check, "/collectives/1/format", "equarx.allreduce(..., format=codec)");
  json["numerics"] = "on";
  check_refused([&] { read_config(json); }, "/collectives/1/format", R"("numerics": "off")");
  check_have_values({config.collectives[0]});
}

}  // namespace
}  // namespace equarx::config::own_format_test
