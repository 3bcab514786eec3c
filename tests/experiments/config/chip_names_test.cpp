#include "experiments/config/chip_names.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::chip_names_test {
namespace {

using testing::check_refused;

TEST_CASE("a pair of chips is read by name, or by number where names are numbers") {
  const ChipNames names({"a", "b1", "7"});
  const topology::Cable cable = names.read_pair({"b1", 7}, "/p");
  CHECK((cable.first == 1 && cable.second == 2));
}

TEST_CASE("anything but a pair of chips is refused") {
  const ChipNames names({"left", "right", "7"});
  const auto check = [&](const input::Json& value, const std::string& place,
                         const std::string& remedy) {
    check_refused([&] { names.read_pair(value, "/p"); }, place, remedy);
  };
  check("left", "/p", R"(two chips, like ["left", "7"])");
  check(input::Json::array(), "/p", "two chips");
  check({"left", "right", "left"}, "/p", "two chips");
  check({"left", "rigt"}, "/p/1", "there is no chip 'rigt'; did you mean 'right'?");
  check({8, "left"}, "/p/0", "there is no chip '8'; its 3 chips are 'left' to '7'");
  check({-7, "left"}, "/p/0", "there is no chip '-7'");
  check({"left", 7.0}, "/p/1", "expected the name of a chip, found a number");
  check({nullptr, "left"}, "/p/0", "expected the name of a chip, found null");
}

}  // namespace
}  // namespace equarx::config::chip_names_test
