#include "base/input/strict_json.hpp"

#include <filesystem>
#include <functional>
#include <string>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::input::strict_json_test {
namespace {

/// The message of the library.
std::string error_of(const std::function<Json()>& parse) {
  try {
    return "no error: " + parse().dump();
  } catch (const Json::exception& error) {
    return error.what();
  }
}

TEST_CASE("the strict parser gives the same values as the library, with keys in order") {
  for (const std::string text :
       {"null", "true", "false", "0", "-0", "-1", "18446744073709551615", "-9223372036854775808",
        "18446744073709551616", "1.5e-300", R"("")", R"("\u00e9\ud83d\ude00\n\"")", "[]", "{}",
        "[[], {}, [[]], [{}]]", R"({"b": {"d": 1, "c": [2, {"a": 3}, 4]}, "a": null, "": ""})",
        "  [1 ,2 , 3]\n", "\xef\xbb\xbf[1]"}) {
    CAPTURE(text);
    const Json strict = parse_strictly(text, Comments::refused);
    const Json library = Json::parse(text);
    CHECK(strict == library);
    CHECK(strict.dump() == library.dump());
    CHECK(strict.type() == library.type());
  }
}

TEST_CASE("the strict parser reads whole files like the library") {
  const std::filesystem::path configs = std::filesystem::path(EQUARX_SOURCE_DIR) / "configs";
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(configs)) {
    if (file.path().extension() != ".json" || file.path().parent_path().filename() == "new")
      continue;
    CAPTURE(file.path());
    const std::string text = read_file(file.path());
    CHECK(parse_strictly(text, Comments::allowed).dump() ==
          Json::parse(text, nullptr, true, true).dump());
    ++files;
  }
  CHECK(files > 50);
}

TEST_CASE("malformed JSON is refused with the errors of the library") {
  for (const std::string text : {"", "{", "[1,]", "{\"a\"}", "{\"a\": 1,}", "1 2", "tru", "[1e999]",
                                 "\"\xff\"", "[1] // no comment here", "{\"a\": 1, \"b\": }"}) {
    CAPTURE(text);
    const std::string error = error_of([&] { return parse_strictly(text, Comments::refused); });
    CHECK(error == error_of([&] { return Json::parse(text); }));
    CHECK_THAT(error, Catch::Matchers::StartsWith("[json.exception."));
  }
}

TEST_CASE("comments are accepted only if allowed") {
  CHECK(parse_strictly("/* a */ [1] // b", Comments::allowed) == Json::array({1}));
  CHECK_THROWS_AS(parse_strictly("/* a */ [1]", Comments::refused), Json::parse_error);
}

TEST_CASE("a duplicate key is refused before later errors") {
  const std::string text = R"([0, {"a": [{"b": 1}, {"c": {}, "d~/": 1, "d~/": )";
  testing::check_refused([&] { parse_strictly(text, Comments::refused); }, "/1/a/1/d~0~1",
                         "duplicate key 'd~/'");
  CHECK_NOTHROW(parse_strictly(R"([{"a": {"a": 1}}, {"a": 1}])", Comments::refused));
}

TEST_CASE("at most 100 levels are accepted") {
  const auto nested = [](std::size_t deep) {
    return std::string(deep, '[') + std::string(deep, ']');
  };
  CHECK(parse_strictly(nested(100), Comments::refused).dump() == nested(100));
  CHECK(testing::message_of([&] { parse_strictly(nested(101), Comments::refused); }) ==
        "not valid here: nested more than 100 deep");
}

}  // namespace
}  // namespace equarx::input::strict_json_test
