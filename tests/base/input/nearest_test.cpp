#include "base/input/nearest.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::input::nearest_test {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"shape", "bytes", "dtype", "values"};

std::string_view near_name(std::string_view text, std::span<const std::string_view> names) {
  return near(text, names).value_or("none");
}

TEST_CASE("a name is near if it takes few edits or shares a prefix") {
  CHECK(near_name("shap", kNames) == "shape");
  CHECK(near_name("Bytes", kNames) == "bytes");
  CHECK(near_name("BYTES", kNames) == "bytes");
  CHECK(near_name("dytpe", kNames) == "dtype");
  CHECK(near_name("valuess", kNames) == "values");
  CHECK(near_name("values", kNames) == "values");
  CHECK(near_name("val", kNames) == "values");
  constexpr std::array<std::string_view, 3> kFormats = {"int8", "fp8-e4m3", "fp8-e5m2"};
  CHECK(near_name("fp8", kFormats) == "fp8-e4m3");
  CHECK(near_name("fp8-e5m", kFormats) == "fp8-e5m2");
  CHECK(near_name("int4", kFormats) == "int8");
}

TEST_CASE("a name far from all has no match") {
  for (const std::string_view far : {"", "b", "sh", "foo", "output", "gr\xc3\xb6\xc3\x9f\x65"})
    CHECK(near_name(far, kNames) == "none");
  CHECK(near_name("f32", std::array<std::string_view, 2>{"int8", "int4"}) == "none");
  CHECK_FALSE(near("shape", {}));
}

TEST_CASE("a text of a million letters is compared by prefix only") {
  constexpr std::size_t kLetters = 1'000'000;
  const std::vector<std::string_view> names(100, "shape");
  CHECK_FALSE(near(std::string(kLetters, 'a'), names));
  CHECK(near_name("shape" + std::string(kLetters, 'a'), kNames) == "shape");
}

TEST_CASE("ties go to the first name") {
  CHECK(near_name("xb", std::array<std::string_view, 2>{"ab", "cb"}) == "ab");
}

TEST_CASE("a remedy is a suggestion if a name is near, and a list otherwise") {
  CHECK(remedy("shap", kNames) == "did you mean 'shape'?");
  CHECK(remedy("foo", kNames) == "use one of shape, bytes, dtype, values");
  CHECK(remedy_of_all("shap", kNames) ==
        "did you mean 'shape'? (one of shape, bytes, dtype, values)");
  CHECK(remedy_of_all("foo", kNames) == remedy("foo", kNames));
}

TEST_CASE("a list is truncated and states how many names are left") {
  CHECK(list_of(kNames) == "shape, bytes, dtype, values");
  CHECK(list_of(kNames, 4) == "shape, bytes, dtype, values");
  CHECK(list_of(kNames, 3) == "shape, bytes, dtype and 1 more");
  const std::vector<std::string_view> many(1000, "a");
  CHECK(remedy("foo", many).ends_with(", a and 872 more"));
}

TEST_CASE("up to a third of the letters may be misspelt") {
  CHECK(is_misspelt("hardwrae", "hardware"));
  CHECK(is_misspelt("hardwar", "hardware"));
  CHECK(is_misspelt("Hardware_", "hardware"));
  CHECK_FALSE(is_misspelt("hardware", "hardware"));
  // Both are names.
  CHECK_FALSE(is_misspelt("link_bandwidth", "hbm_bandwidth"));
  CHECK_FALSE(is_misspelt("hbm_capacity", "vmem_capacity"));
  CHECK_FALSE(is_misspelt("foo", "fit"));
  CHECK_FALSE(is_misspelt("hardwa-re--", "hardware"));
}

TEST_CASE("lists are separated by commas") {
  CHECK(list_of(kNames) == "shape, bytes, dtype, values");
  CHECK(list_of({}).empty());
}

}  // namespace
}  // namespace equarx::input::nearest_test
