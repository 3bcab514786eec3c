#include "base/input/json_text.hpp"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>

#include "base/input/json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::input::json_text_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::good_config;
using testing::message_of;

TEST_CASE("JSON is serialized even with invalid UTF-8") {
  CHECK(json_text({{"a", {1, "b"}}}) == R"({"a":[1,"b"]})");
  CHECK(json_text({{"a", 1}}, 2) == "{\n  \"a\": 1\n}");
  CHECK(json_text("\xff") == "\"\xef\xbf\xbd\"");  // U+FFFD
}

TEST_CASE("comments are allowed between tokens, and kept within strings") {
  CHECK(parse_json("// of a file\n{ /* of */ \"a\": [1, // a number\n 2] }") ==
        parse_json(R"({"a": [1, 2]})"));
  CHECK(parse_json(R"({"a": "http://b /* c */"})")["a"] == "http://b /* c */");
}

TEST_CASE("malformed JSON is located by line and column") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "line 1, column 1: "},
      {"\n", "line 2, column 1: "},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3, column 7: "},
      {"{\n  \"a\": 1,\n}\n", "line 3, column 1: "},
      {"{\"a\": tru}", "line 1, column 10: "},
      {"{} {}", "line 1, column 4: "},
      {"{'a': 1}", "line 1, column 2: "},
      {"[1, 2", "line 1, column 6: "},
      {"// no\n{", "line 2, column 2: "},
      {"/ no\n{}", "line 1, column 2: "},
      {"{} /* never ends", "line 1, column 17: "}};
  for (const auto& one : texts) {
    const auto& text = one.first;
    const auto& place = one.second;
    CAPTURE(text);
    const std::string message = message_of([&] { parse_json(text); });
    CHECK_THAT(message, Catch::Matchers::StartsWith("not valid JSON at " + place));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("invalid UTF-8 is refused with its location") {
  for (const std::string bytes : {"\xff", "\xc3(", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf"}) {
    CHECK_THAT(message_of([&] { parse_json("{\n\"a\": \"" + bytes + "\"}"); }),
               ContainsSubstring("line 2, column ") && ContainsSubstring("UTF-8"));
  }
  CHECK_THROWS_AS(parse_json(std::string_view("\0\1\2", 3)), InputError);
}

TEST_CASE("a number outside the range of doubles is refused") {
  const std::string message = message_of([] { parse_json("{\"a\": 1e999}"); });
  CHECK_THAT(message, ContainsSubstring("1e999") && !ContainsSubstring("json.exception"));
}

TEST_CASE("a duplicate key is refused with its pointer") {
  check_refused([] { parse_json(R"({"a": 1, "a": 1})"); }, "/a", "duplicate key 'a'");
  check_refused([] { parse_json(R"({"x": [0, {}, {"b": {"c": 1, "c/d": 1, "c/d": 2}}]})"); },
                "/x/2/b/c~1d", "remove one");
  check_refused([] { parse_json(R"([[1, [2]], {"k": [], "k": []}])"); }, "/1/k", "remove one");
  CHECK_NOTHROW(parse_json(R"({"a": {"b": 1}, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]})"));
}

TEST_CASE("deep nesting is refused quickly") {
  constexpr std::size_t kDepth = 100000;
  CHECK_THROWS_AS(parse_json(std::string(kDepth, '[')), InputError);
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  CHECK_THAT(message_of([&] { parse_json(deep); }), ContainsSubstring("nested more than 100 deep"));
  CHECK_THAT(message_of([&] { changed("/tensor/values", deep); }), ContainsSubstring("nested"));
  CHECK_NOTHROW(parse_json(std::string(100, '[') + std::string(100, ']')));
}

TEST_CASE("files that cannot be read are refused with the reason") {
  CHECK_THAT(message_of([] { read_file("no/such/file.json"); }),
             ContainsSubstring("no/such/file.json") && ContainsSubstring("No such file"));
  CHECK_THAT(message_of([] { read_file(std::filesystem::temp_directory_path().string()); }),
             ContainsSubstring("is a directory"));
  CHECK_THAT(message_of([] { read_file(std::string(5000, 'a')); }), ContainsSubstring("too long"));
  CHECK_THAT(message_of([] { read_file(""); }), ContainsSubstring("No such file"));
}

TEST_CASE("an empty file is read, and is not JSON") {
  const testing::TemporaryFile file("");
  CHECK(read_file(file.path()).empty());
  CHECK_THROWS_AS(parse_json(read_file(file.path())), InputError);
}

TEST_CASE("a file is read to its last byte") {
  const std::string content("a\0\r\n\xff", 5);
  CHECK(read_file(testing::TemporaryFile(content).path()) == content);
}

TEST_CASE("an override sets JSON, or else plain text") {
  CHECK(changed("/tensor/dtype", "fp32")["tensor"]["dtype"] == "fp32");
  CHECK(changed("/tensor/dtype", "\"fp32\"")["tensor"]["dtype"] == "fp32");
  CHECK(changed("/tensor/values/seed", "7")["tensor"]["values"]["seed"] == 7);
  CHECK(changed("/tensor/shape", "[1, 2]")["tensor"]["shape"] == Json({1, 2}));
  CHECK(changed("/collectives/0/label", "a b")["collectives"][0]["label"] == "a b");
  CHECK(changed("/collectives/1/minishards", "4")["collectives"][1]["minishards"] == 4);
  CHECK(changed("/baseline", "")["baseline"] == "");
  CHECK(changed("/collectives", R"([{"algorithm": "ring"}])")["collectives"].size() == 1);
  CHECK(changed("/collectives/1", R"({"algorithm": "ring"})")["collectives"][1].size() == 1);
}

TEST_CASE("an override adds a key to an object") {
  CHECK(changed("/collectives/0/minishards", "4")["collectives"][0]["minishards"] == 4);
  CHECK(changed("/new", "1")["new"] == 1);
}

TEST_CASE("an override of one alternative removes the others, and nothing else") {
  const Json bytes = changed("/tensor/bytes", "8 MiB")["tensor"];
  CHECK(bytes["bytes"] == "8 MiB");
  CHECK_FALSE(bytes.contains("shape"));
  CHECK(bytes["values"] == good_config()["tensor"]["values"]);
  CHECK(changed("/topology/mesh", "4x4")["topology"] == Json({{"mesh", "4x4"}}));
  CHECK(changed("/topology/ring", "8")["topology"] == Json({{"ring", 8}}));
  Json back = changed("/tensor/bytes", "8 MiB");
  config::override_value(back, "/tensor/shape", "[4]");
  CHECK_FALSE(back["tensor"].contains("bytes"));
  // A collective's ring style is not a topology.
  const Json collective = changed("/collectives/1/ring", "semi-loop")["collectives"][1];
  CHECK(collective.size() == good_config()["collectives"][1].size());
}

TEST_CASE("an unresolvable override is refused with its pointer") {
  for (const std::string pointer :
       {"/collectives/5/format", "/collectives/-", "/collectives/-/format", "/collectives/2",
        "/collectives/x/format", "/collectives/01/format",
        "/collectives/99999999999999999999/format", "/tensor/values/seed/x", "/~2", "/tensor/~"}) {
    CAPTURE(pointer);
    check_refused([&] { changed(pointer, "1"); }, pointer, "");
  }
  CHECK_THAT(message_of([] { changed("", "1"); }), ContainsSubstring("/tensor/bytes"));
  CHECK_THROWS_AS(changed("tensor", "1"), InputError);
}

TEST_CASE("an override that fails changes nothing") {
  Json json = good_config();
  CHECK_THROWS_AS(config::override_value(json, "/collectives/5/format", "1"), InputError);
  CHECK(json == good_config());
}

TEST_CASE("an override that begins like JSON but is malformed is refused") {
  for (const std::string text : {"{", "[1, 2", "\"8 MiB", R"([{"algorithm": "ring"])", "[]]"}) {
    CAPTURE(text);
    check_refused([&] { changed("/collectives", text); }, "/collectives",
                  "'" + text + "' is not valid JSON at line 1, column ");
  }
  CHECK(changed("/baseline", "8 MiB]")["baseline"] == "8 MiB]");
}

TEST_CASE("errors in reading or parsing a file name it once") {
  const auto fail = [](const std::string&) -> int { throw InputError("/key", "is wrong"); };
  const testing::TemporaryFile file("x");
  check_refused([&] { read_named_file(file.path(), "/place", fail); }, "/place",
                "/place: in " + file.path() + ": /key: is wrong");
  const std::string message = message_of([&] { read_named_file("none.json", "/place", fail); });
  CHECK_THAT(message, Catch::Matchers::StartsWith("/place: cannot read none.json: No such file"));
  CHECK_THAT(message, ContainsSubstring("(relative to /"));
  CHECK(message.find("none.json") == message.rfind("none.json"));
  CHECK(read_named_file(file.path(), "", [](const std::string& text) { return text; }) == "x");
}

TEST_CASE("an override with invalid UTF-8 or a duplicate key is refused") {
  check_refused([] { changed("/collectives/0/label", "\xff"); }, "/collectives/0/label", "UTF-8");
  CHECK_THROWS_AS(changed("/tensor", R"({"bytes": "2 B", "bytes": "4 B"})"), InputError);
}

/// An endless stream.
class NoEnd : public std::streambuf {
  int_type underflow() override {
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return traits_type::to_int_type(block_.front());
  }
  std::string block_ = std::string(std::size_t{1} << 16, 'a');
};

TEST_CASE("a stream is read to its end, and an endless one is refused by name") {
  std::istringstream text(std::string(200000, 'a') + '\0' + "b");
  CHECK(read_stream(text, "it") == std::string(200000, 'a') + '\0' + "b");
  std::istringstream empty;
  CHECK(read_stream(empty, "it").empty());
  NoEnd buffer;
  std::istream no_end(&buffer);
  CHECK(message_of([&] { read_stream(no_end, "the pipe"); }) ==
        "cannot read the pipe: more than 256 MiB, and it may have no end; save the data "
        "to a file and name that");
}

TEST_CASE("endless devices and files larger than memory are refused") {
  CHECK_THAT(message_of([] { read_file("/dev/zero"); }),
             ContainsSubstring("/dev/zero: more than 256 MiB"));
  const testing::TemporaryFile hole("");
  std::filesystem::resize_file(hole.path(), std::uintmax_t{1} << 43);
  CHECK_THAT(message_of([&] { read_file(hole.path()); }),
             ContainsSubstring("more than this computer's memory"));
}

}  // namespace
}  // namespace equarx::input::json_text_test
