#include "importers/profile/events.hpp"

#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::profile::events_test {
namespace {

using equarx::testing::message_of;
using input::Json;

bool want_all(std::string_view) { return true; }

/// Names of the events, in order.
std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> found;
  read_events(text, want_all, [&](const Json& event) { found.push_back(text_of(event, "name")); });
  return found;
}

TEST_CASE("events of an object and of a bare list are handed over in order") {
  const std::vector<std::string> both = {"a", "b"};
  CHECK(names(R"({"x": [{"name": "no"}], "traceEvents": [{"name": "a", "args": {"name": "in"}},
                  {"name": "b", "args": [{"name": "in"}]}], "y": {"name": "no"}})") == both);
  CHECK(names(R"([{"name": "a"}, {"name": "b"}])") == both);
  CHECK(names(R"({"traceEvents": []})").empty());
}

TEST_CASE("the rest of the object is returned, and duplicate keys are accepted") {
  const auto rest = read_events(
      R"({"a": 1, "traceEvents": [{"name": "x", "name": "y"}], "b": {"c": 2}, "b": {"c": 3}})",
      want_all, [](const Json& event) { CHECK(text_of(event, "name") == "y"); });
  CHECK(rest->at("a") == 1);
  CHECK(rest->at("b").at("c") == 3);
  CHECK(read_events("[]", want_all, [](const Json&) {})->empty());
}

TEST_CASE("other text than a trace is refused with a remedy") {
  const auto read = [](std::string_view text) { return [text] { names(text); }; };
  CHECK_THAT(message_of(read("\x1f\x8b\x08")), ContainsSubstring("is compressed; gunzip it first"));
  CHECK_THAT(message_of(read(R"({"traceEvents": [{"name": "a"})")),
             ContainsSubstring("is truncated after 30 bytes"));
  CHECK_THAT(message_of(read("")), ContainsSubstring("is truncated after 0 bytes"));
  CHECK_THAT(message_of(read("HloModule x\n\nENTRY")),
             ContainsSubstring("not valid JSON at byte 1;"));
  CHECK_THAT(message_of(read(R"({"ts": NaN, "traceEvents": []})")),
             ContainsSubstring("not valid JSON outside of its list \"traceEvents\""));
  CHECK_THAT(message_of(read(R"({"traceEvents": [{"ts": NaN}]})")),
             ContainsSubstring("not valid JSON at byte 25"));
  CHECK_THAT(message_of(read(R"({"traceEvents": [1 2]})")),
             ContainsSubstring("not valid JSON at byte 20"));
  CHECK_THAT(message_of(read(R"({"traceEvents": [,]})")),
             ContainsSubstring("not valid JSON at byte 18"));
  CHECK_THAT(message_of(read(R"({"traceEvents": [], "x": "a\")")),
             ContainsSubstring("is truncated after 29 bytes"));
  CHECK_THAT(message_of(read(R"({"events": []})")),
             ContainsSubstring("has no list \"traceEvents\""));
  CHECK_THAT(message_of(read(R"([{"ts": 1e999}])")), ContainsSubstring("not valid JSON at byte 2"));
  CHECK_THAT(message_of(read("{}")), ContainsSubstring("has no list \"traceEvents\""));
  CHECK_THAT(message_of(read("3")), ContainsSubstring("not valid JSON at byte 1;"));
}

TEST_CASE("events that are not wanted are skipped, whatever their texts contain") {
  std::vector<std::string> found;
  read_events(
      R"([{"name": "no", "x": "\"}]{[\\"}, {"name": "yes", "x": [{"y": "]"}, []]}, 3, "t", null])",
      [](std::string_view event) { return event.find("yes") != std::string_view::npos; },
      [&](const Json& event) { found.push_back(text_of(event, "name")); });
  CHECK(found == std::vector<std::string>{"yes"});
}

TEST_CASE("numbers may be texts, but are finite") {
  const Json event = Json::parse(
      R"({"a": 2.5, "b": "4e3", "c": "nan", "d": "4 us", "e": null, "f": "inf", "g": "", "h": []})");
  CHECK(number_of(event, "a") == 2.5);
  CHECK(number_of(event, "b") == 4000.0);
  for (const char* key : {"c", "d", "e", "f", "g", "h", "i"}) {
    CAPTURE(key);
    CHECK(number_of(event, key) == std::nullopt);
  }
  CHECK(text_of(event, "a").empty());
  CHECK(object_of(event, "a").empty());
}

}  // namespace
}  // namespace equarx::profile::events_test
