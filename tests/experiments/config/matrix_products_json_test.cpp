#include "experiments/config/matrix_products_json.hpp"

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::matrix_products_json_test {
namespace {

using testing::check_refused;

input::Json chip_with_points() {
  input::Json json = testing::tpu_v5e();
  json["matrix_products"] = input::parse_json(R"({
    "points": [{ "operations": 1e9, "share": 0.25 }, { "operations": 1e12, "share": 1.0 }],
    "class": "measured", "source": "a run" })");
  return json;
}

void check_point_refused(const std::string& pointer, const std::string& text,
                         const std::string& remedy) {
  input::Json json = chip_with_points();
  override_value(json, "/matrix_products" + pointer, text);
  check_refused([&] { read_chip(json); }, "/matrix_products" + pointer, remedy);
}

TEST_CASE("matmul efficiencies survive a round trip") {
  const input::Json json = chip_with_points();
  CHECK_NOTHROW(input::check_schema(json, "hardware"));
  const hardware::Chip chip = read_chip(json);
  REQUIRE(chip.matrix_products.points.size() == 2);
  CHECK(chip.matrix_products.points[0].operations == 1e9);
  CHECK(chip.matrix_products.points[0].share == 0.25);
  CHECK(chip.matrix_products.provenance == hardware::Provenance::measured);
  CHECK(matrix_products_json(chip.matrix_products) == json["matrix_products"]);
  CHECK(to_json(read_chip(to_json(chip))) == to_json(chip));
  CHECK_FALSE(to_json(read_chip(testing::tpu_v5e())).contains("matrix_products"));
}

TEST_CASE("invalid points are refused") {
  check_point_refused("/points/0/operations", "0", "0 is not above 0");
  check_point_refused("/points/1/operations", "1e8", "in rising order");
  check_point_refused("/points/1/share", "1.5", "from 1e-9 to 1");
  check_point_refused("/points/1/share", "high", "from 1e-9 to 1");
  check_point_refused("/points", "[]", "leave matrix_products out");
}

}  // namespace
}  // namespace equarx::config::matrix_products_json_test
