#include "experiments/config/format_names.hpp"

#include <set>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "models/formats/block_format.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::config::format_names_test {
namespace {

TEST_CASE("an alias maps to a name and is not one itself") {
  std::set<std::string_view> names;
  for (const numerics::NamedFormat& named : numerics::named_formats()) names.insert(named.name);
  std::set<std::string_view> seen;
  for (const FormatAlias& alias : format_aliases()) {
    CAPTURE(alias.alias);
    CHECK(seen.insert(alias.alias).second);
    CHECK_FALSE(names.contains(alias.alias));
    CHECK(names.contains(alias.name));
    CHECK(format_name(alias.alias) == alias.name);
    CHECK(format_name(alias.name) == alias.name);
  }
  CHECK(format_name("nonsense") == "nonsense");
}

TEST_CASE("aliases are equivalent in a configuration, and the schema accepts them") {
  for (const FormatAlias& alias : format_aliases()) {
    CAPTURE(alias.alias);
    input::Json ours = testing::good_config();
    const bool scaled = alias.name.find("int") != alias.name.npos || alias.name.starts_with("mx") ||
                        alias.name.starts_with("fp8");
    if (scaled) {
      ours["collectives"][1]["format"] = std::string(alias.name);
    } else {
      ours["collectives"][1] = {{"label", "plain"}, {"algorithm", "ring"}};
      ours["collectives"][1]["format"] = std::string(alias.name);
      ours["collectives"][1]["cast_to"] = std::string(alias.name);
      ours["tensor"]["dtype"] = "bf16";
      if (alias.name == "bf16") ours["collectives"][1].erase("cast_to");
    }
    input::Json theirs = ours;
    for (const std::string key : {"format", "cast_to"})
      if (theirs["collectives"][1].contains(key))
        theirs["collectives"][1][key] = std::string(alias.alias);
    CHECK_NOTHROW(input::check_schema(theirs, "experiment"));
    CHECK(to_json(read_config(theirs)) == to_json(read_config(ours)));
  }
  input::Json tensor = testing::good_config();
  tensor["tensor"]["dtype"] = "bfloat16";
  CHECK_NOTHROW(input::check_schema(tensor, "experiment"));
  CHECK(to_json(read_config(tensor)) == to_json(read_config(testing::good_config())));
}

TEST_CASE("malformed configurations are left for the reader to refuse") {
  for (const std::string text : {"null", "[]", R"({"tensor": 3, "collectives": 4})",
                                 R"({"collectives": [1, {"format": 2}]})"}) {
    input::Json json = input::parse_json(text);
    const input::Json before = json;
    replace_format_aliases(json);
    CHECK(json == before);
  }
}

}  // namespace
}  // namespace equarx::config::format_names_test
