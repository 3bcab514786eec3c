#include "experiments/config/stored_json.hpp"

#include <filesystem>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::stored_json_test {
namespace {

stored::StoredFormat read(const std::string& text) {
  return read_stored_format(input::parse_json(text));
}

void check_bad(const std::string& text, const std::string& place, const std::string& remedy) {
  CAPTURE(text);
  equarx::testing::check_refused([&] { read(text); }, place, remedy);
}

TEST_CASE("stored formats: every file of configs/formats is read and written back") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EQUARX_CONFIGS_DIR "/formats")) {
    CAPTURE(entry.path());
    const stored::StoredFormat format = load_stored_format(entry.path().string(), "");
    CHECK(!format.source.empty());
    CHECK(read_stored_format(stored_format_json(format)) == format);
    const input::Json json = input::parse_json(input::read_file(entry.path().string()));
    CHECK_NOTHROW(input::check_schema(json, "format"));
    ++files;
  }
  CHECK(files >= 13);
}

TEST_CASE("stored formats: names of files are formats, unless messages have them") {
  CHECK(is_stored_format("nf4"));
  CHECK(is_stored_format("my.json"));
  CHECK_FALSE(is_stored_format("mxfp4"));
  CHECK_FALSE(is_stored_format("int8"));
  CHECK_FALSE(is_stored_format("nf5"));
  CHECK(load_stored_format("nf4", "").elements.table.size() == 16);
  equarx::testing::check_refused([] { load_stored_format("nf5", "/format"); }, "/format",
                                 "did you mean");
}

TEST_CASE("stored formats: levels follow from bits and the zero point") {
  CHECK(read(R"({"elements": {"integer": 4}})").elements.levels == 15);
  CHECK(read(R"({"elements": {"integer": 4},
                 "scale": {"rule": "min-max", "zero_point": "rounded"}})")
            .elements.levels == 16);
  CHECK(read(R"({"elements": {"table": [-1, 0, 0.5, 1, 2]}})").elements.bits == 3);
  CHECK(read(R"({"elements": {"minifloat": "e4m3", "special": "nan"}})").elements.bias == 7);
}

TEST_CASE("stored formats: bad input is refused at its place") {
  check_bad("{}", "/elements", "like {\"integer\": 4}");
  check_bad(R"({"elements": {}})", "/elements", "give \"integer\"");
  check_bad(R"({"elements": {"integer": 4, "table": "nf4"}})", "/elements", "table");
  check_bad(R"({"elements": {"integer": 9}})", "/elements/integer", "8");
  check_bad(R"({"elements": {"integer": 2, "levels": 5}})", "/elements", "give 2 to 4");
  check_bad(R"({"elements": {"table": "nf5"}})", "/elements/table", "did you mean");
  check_bad(R"({"elements": {"table": [1, 0]}})", "/elements", "sort it");
  check_bad(R"({"elements": {"table": [1, "x"]}})", "/elements/table/1", "numbers only");
  check_bad(R"({"elements": {"table": "k-means"}})", "/elements/bits", "missing");
  check_bad(R"({"elements": {"minifloat": "e5m4"}})", "/elements/minifloat", "\"e2m1\"");
  check_bad(R"({"elements": {"integer": 4}, "scale": {"rule": "absmax"}})", "/scale/rule",
            "did you mean 'abs-max'");
  check_bad(R"({"elements": {"integer": 4}, "scale": {"rule": "min-max"}})", "/scale",
            "zero point");
  check_bad(R"({"elements": {"integer": 4}, "scale": {"type": "e8m0"}})", "/scale",
            "power-of-two-up");
  check_bad(R"({"elements": {"table": "k-means", "bits": 2}, "scale": {}})", "/scale", "remove it");
  check_bad(R"({"elements": {"integer": 4}, "apart": {"largest": 1}})", "/apart", "lower");
  check_bad(R"({"elements": {"integer": 4}, "before": {"hadamard": 12}})", "/before",
            "power of two");
  check_bad(R"({"elements": {"integer": 4}, "feedback": {"order": "act"}})", "/feedback/order",
            "columns");
  check_bad(R"({"elements": {"integer": 4}, "feedback": {"damping": -1}})", "/feedback/damping",
            "from 0 to 1");
  check_bad(R"({"elements": {"integer": 4}, "widths": {"by_salience": true}})", "/widths",
            "zero point");
  check_bad(R"({"elements": {"integer": 4}, "widths": {"bits": [4.5]}})", "/widths/bits/0",
            "no integer");
  check_bad(R"({"elements": {"integer": 4}, "group": {}})", "/group", "did you mean");
}

}  // namespace
}  // namespace equarx::config::stored_json_test
