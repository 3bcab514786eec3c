#include "experiments/input/nearest.hpp"

#include <array>

#include "tests/catch.hpp"

namespace equarx::input {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"shape", "bytes", "dtype", "values"};

TEST_CASE("the nearest name takes the fewest letters to change") {
  CHECK(nearest("shap", kNames) == "shape");
  CHECK(nearest("Bytes", kNames) == "bytes");
  CHECK(nearest("dytpe", kNames) == "dtype");
  CHECK(nearest("valuess", kNames) == "values");
  CHECK(nearest("values", kNames) == "values");
}

TEST_CASE("of names that are equally near, the first is taken") {
  CHECK(nearest("", std::array<std::string_view, 2>{"ab", "cd"}) == "ab");
  CHECK(nearest("xy", std::array<std::string_view, 2>{"ab", "cd"}) == "ab");
}

TEST_CASE("without candidates there is no nearest") { CHECK(nearest("shape", {}).empty()); }

TEST_CASE("two letters wrong are a mistyping, none or three are not") {
  CHECK(is_misspelt("hardwrae", "hardware"));
  CHECK(is_misspelt("hardwar", "hardware"));
  CHECK(is_misspelt("Hardware_", "hardware"));
  CHECK_FALSE(is_misspelt("hardware", "hardware"));
  CHECK_FALSE(is_misspelt("hardwa-re--", "hardware"));
}

TEST_CASE("lists are for people") {
  CHECK(list_of(kNames) == "shape, bytes, dtype, values");
  CHECK(list_of({}).empty());
}

}  // namespace
}  // namespace equarx::input
