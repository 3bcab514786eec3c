#include "experiments/result/metrics.hpp"

#include <limits>

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::result::metrics_test {
namespace {

struct Inner {
  double mse = 0.5;
};

struct Object {
  std::string label = "a";
  bool exact = true;
  std::uint32_t chips = 4;
  std::optional<double> speedup = {};
  std::optional<double> share = {};
  std::optional<Inner> inner = {};
};

const Metrics<Object>& object_metrics() {
  static const Metrics<Inner> kInner = {{{.key = "mse", .unit = Unit::squared}, &Inner::mse}};
  static const Metrics<Object> kMetrics = joined(
      {Metrics<Object>{
           {{.key = "label", .unit = Unit::text}, &Object::label},
           {{.key = "exact", .unit = Unit::flag}, &Object::exact},
           {{.key = "chips", .unit = Unit::count}, &Object::chips},
           {{.key = "speedup", .unit = Unit::speedup, .empty = Empty::null}, &Object::speedup},
           {{.key = "share", .unit = Unit::share, .empty = Empty::absent}, &Object::share},
           Metric<Object>::nullable_object({.key = "inner", .unit = Unit::object},
                                           [](const Object& one) { return one.inner.has_value(); }),
           Metric<Object>({.key = "list", .unit = Unit::list})},
       within<Object>("inner", kInner,
                      [](const Object& one) { return one.inner ? &*one.inner : nullptr; })});
  return kMetrics;
}

std::string json_of(const Object& object) {
  input::Json json = input::Json::object();
  add_metrics(object_metrics(), object, json);
  return json.dump();
}

TEST_CASE("metrics are written in order, and those without a value as null or not at all") {
  CHECK(json_of({}) == R"({"label":"a","exact":true,"chips":4,"speedup":null,"inner":null})");
  CHECK(json_of({.label = "b", .speedup = 2.0, .share = 0.25, .inner = Inner{}}) ==
        R"({"label":"b","exact":true,"chips":4,"speedup":2.0,"share":0.25,"inner":{"mse":0.5}})");
}

TEST_CASE("a number that is not finite is null in the text") {
  CHECK(json_of({.speedup = std::numeric_limits<double>::infinity()}).find("\"speedup\":null") !=
        std::string::npos);
}

TEST_CASE("a number is found by its name") {
  const Object object{.inner = Inner{}};
  CHECK(number_of(object_metrics(), object, "chips") == 4.0);
  CHECK(number_of(object_metrics(), object, "inner/mse") == 0.5);
  for (const char* const name : {"label", "exact", "speedup", "share", "inner", "list", "missing"})
    CHECK_FALSE(number_of(object_metrics(), object, name));
}

TEST_CASE("names are those of present numbers, null or not") {
  CHECK(names_of_numbers(object_metrics(), {}) == std::vector<std::string>{"chips", "speedup"});
  CHECK(names_of_numbers(object_metrics(), {.share = 0.5, .inner = Inner{}}) ==
        std::vector<std::string>{"chips", "speedup", "share", "inner/mse"});
}

TEST_CASE("a title is declared, or follows from the key without its unit") {
  CHECK(title_of({.key = "numerics/mse", .title = "MSE"}) == "MSE");
  CHECK(title_of({.key = "breakdown/idle_s"}) == "idle");
  CHECK(title_of_key("numerics/clipped_fraction") == "clipped fraction");
  CHECK(title_of_key("worst_sqnr_db") == "worst sqnr");
}

TEST_CASE("every unit has a text, and lists and objects are no numbers") {
  CHECK(unit_text(Unit::time) == "s");
  CHECK(unit_text(Unit::share) == "ratio");
  CHECK(is_number(Unit::decibel));
  for (const Unit unit : {Unit::text, Unit::flag, Unit::object, Unit::list})
    CHECK_FALSE(is_number(unit));
}

}  // namespace
}  // namespace equarx::result::metrics_test
