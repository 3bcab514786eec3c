#include "tools/keys/pages.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace equarx::keys::pages_test {
namespace {

const DocumentRows kRows = {{"step",
                             {{"name", "required", "", "a | b"},
                              {"step", "required", "", "inside"},
                              {"step.b", "1", "s", "same"},
                              {"step.c", "1", "s", "same"},
                              {"step.list[].d", "2", "", ""},
                              {"step.list[].e.f", "3", "", "deep"}}}};

const std::string kPage = R"(# Page

<!-- keys of step -->

| key | default | meaning |
|---|---|---|
| `old` | gone | gone |

Prose.

<!-- keys of step, in step -->

| key | unit | meaning |
|---|---|---|

<!-- keys of step, in step.list[].* -->

| key | meaning |
|---|---|
| `old` | gone |
<!-- keys of result -->

| key |
|---|
| `kept` |
)";

std::set<TablePlace> places(const std::string& page) {
  const auto all = table_places(page);
  return {all.begin(), all.end()};
}

TEST_CASE("tables are replaced row by row, and each key is in the most special one") {
  CHECK(with_tables(kPage, kRows, places(kPage)) == R"(# Page

<!-- keys of step -->

| key | default | meaning |
|---|---|---|
| `name` | required | a \| b |
| `step` | required | inside |

Prose.

<!-- keys of step, in step -->

| key | unit | meaning |
|---|---|---|
| `b`, `c` | s | same |
| `list[].d` | | |

<!-- keys of step, in step.list[].* -->

| key | meaning |
|---|---|
| `f` | deep |
<!-- keys of result -->

| key |
|---|
| `kept` |
)");
}

TEST_CASE("replacing tables twice changes nothing more") {
  const std::string once = with_tables(kPage, kRows, places(kPage));
  CHECK(with_tables(once, kRows, places(once)) == once);
}

TEST_CASE("results have tables, too, and tables without rows are left alone") {
  const std::string page =
      "<!-- results of run, in runs[] -->\n\n| key | unit |\n|---|---|\n| `old` | s |\n\n"
      "<!-- results of run, in runs[].links[] -->\n\n| key | unit |\n|---|---|\n| `kept` | B |\n\n"
      "<!-- results of sweep -->\n\n| key | unit |\n|---|---|\n| `kept` | B |\n";
  const DocumentRows rows = {{"results of run", {{"runs[].time_s", "", "s", ""}}}};
  std::string expected = page;
  expected.replace(expected.find("old"), 3, "time_s");
  CHECK(with_tables(page, rows, places(page)) == expected);
}

TEST_CASE("the table below a comment is replaced, and no other") {
  const std::string table = "\n| name | source |\n|---|---|\n| old | gone |\n";
  const std::string page = table + "\n<!-- presets -->\n" + table + "\nProse.\n" + table;
  CHECK(with_table(page, "<!-- presets -->", {"| a | b |", "| c | d |"}) ==
        table + "\n<!-- presets -->\n\n| name | source |\n|---|---|\n| a | b |\n| c | d |\n" +
            "\nProse.\n" + table);
  CHECK(with_table(page, "<!-- other -->", {"| a | b |"}) == page);
}

TEST_CASE("a key without a table is missing") {
  CHECK(missing_keys(kRows, places(kPage)).empty());
  CHECK(missing_keys(kRows, {{"step", "step"}}) ==
        std::vector<std::string>{"step: name", "step: step"});
}

}  // namespace
}  // namespace equarx::keys::pages_test
