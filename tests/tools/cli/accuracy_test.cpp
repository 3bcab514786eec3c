#include <nlohmann/json.hpp>

#include "base/input/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::accuracy_test {
namespace {

using nlohmann::json;

constexpr const char* kResults = R"({"rows": [
    {"id": "a", "what": "a measured step", "role": "prediction", "expected": 2.0, "simulated": 3.0,
     "question": "training"}]})";

TEST_CASE("accuracy prints the classes of this version, and rows on request") {
  const std::string table = output_of(equarx_sim({"accuracy"}));
  CHECK_THAT(table, ContainsSubstring("training steps in bf16"));
  CHECK_THAT(table, !ContainsSubstring("v6e-256"));
  CHECK_THAT(output_of(equarx_sim({"accuracy", "--rows"})), ContainsSubstring("v6e-256"));
  const json report = json::parse(output_of(equarx_sim({"accuracy", "--json"})));
  CHECK(report["questions"].size() > 5);
  CHECK(report["rows"].size() > 100);
}

TEST_CASE("accuracy of results of studies, as rows and as a page") {
  const TemporaryDirectory folder;
  const std::string results = folder.write("study.json", kResults);
  const std::string rows = (folder.path() / "rows.json").string();
  const std::string page = (folder.path() / "page.md").string();
  const std::string table =
      output_of(equarx_sim({"accuracy", results, "-o", rows, "--page", page}));
  CHECK_THAT(table, ContainsSubstring("50 %") && ContainsSubstring("unknown"));
  CHECK(json::parse(input::read_file(rows))["rows"][0]["simulated"] == 3.0);
  CHECK_THAT(input::read_file(page), ContainsSubstring("| a measured step |"));
}

TEST_CASE("accuracy rejects files that are no results of a study") {
  const TemporaryDirectory folder;
  check_refusal(equarx_sim({"accuracy", folder.write("other.json", "{}")}), "has no rows");
  check_refusal(equarx_sim({"accuracy", (folder.path() / "nowhere").string()}), "study.json");
}

}  // namespace
}  // namespace equarx::testing::accuracy_test
