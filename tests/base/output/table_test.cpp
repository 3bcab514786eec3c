#include "base/output/table.hpp"

#include "tests/catch.hpp"

namespace equarx::output::table_test {
namespace {

TEST_CASE("the first column is left-aligned, the others right-aligned") {
  CHECK(aligned_table({{"name", "time"}, {"a longer name", "1 s"}, {"b", "100 ms"}}) ==
        "  name             time\n"
        "  a longer name     1 s\n"
        "  b              100 ms\n");
}

TEST_CASE("columns that may go are removed in order until a table has 120 characters a line") {
  const std::vector<std::string> removable = {"last", "absent", "middle", "first"};
  std::vector<TableRow> rows = {{"name", "first", "middle", "last"},
                                {std::string(80, 'x'), "1", std::string(10, '2'), "3"}};
  CHECK(fit_width(rows, removable).empty());
  rows[1][2] = std::string(26, '2');  // 2 + 80 + 2 + 5 + 2 + 26 = 117 without the last column
  CHECK(fit_width(rows, removable) == std::vector<std::string>{"last"});
  CHECK(rows[0] == TableRow{"name", "first", "middle"});
  CHECK(rows[1].size() == 3);
  rows[1][2] += std::string(4, '2');
  CHECK(fit_width(rows, removable) == std::vector<std::string>{"middle"});
  rows[1][0] = std::string(200, 'x');  // stays, as it may not go
  CHECK(fit_width(rows, removable) == std::vector<std::string>{"first"});
  CHECK(rows == std::vector<TableRow>{{"name"}, {std::string(200, 'x')}});
}

TEST_CASE("long texts lose their middle, at borders of characters") {
  CHECK(shortened("all-gather", 10) == "all-gather");
  CHECK(shortened("all-gather.attention", 10) == "all...tion");
  CHECK(shortened("abc\u00e4\u00e4\u00e4\u00e4xyz", 10) == "abc...xyz");
}

TEST_CASE("names are shortened until a table has 120 characters a line") {
  std::vector<TableRow> rows = {{"name", "time"}, {std::string(112, 'x'), "1 ms"}};
  shorten_names(rows);
  CHECK(rows[1][0] == std::string(112, 'x'));
  rows[1][1] = "100 ms";
  shorten_names(rows);
  CHECK(rows[1][0] == std::string(53, 'x') + "..." + std::string(54, 'x'));
  CHECK(aligned_table(rows).find('\n') == kTableWidth);
  rows[0][1] = std::string(200, 'y');
  shorten_names(rows);
  CHECK(rows[1][0].size() == 16);
  CHECK(rows[0][0] == "name");
}

TEST_CASE("a range has its unit once where both ends share it") {
  CHECK(range_text("671.2 us", "677.9 us") == "671.2 to 677.9 us");
  CHECK(range_text("998.1 us", "1.002 ms") == "998.1 us to 1.002 ms");
  CHECK(range_text("0.75", "1.25") == "0.75 to 1.25");
}

TEST_CASE("correlations have names on both sides") {
  CHECK(correlation_table({"a", "bee"}, {1.0, -0.25, -0.25, 1.0}) ==
        "  correlation       a     bee\n"
        "  a             1.000  -0.250\n"
        "  bee          -0.250   1.000\n");
}

TEST_CASE("large percentages have no exponent and the requested digits") {
  CHECK(percent_text(1.234, 2) == "120 %");
  CHECK(percent_text(123.4, 2) == "12000 %");
  CHECK(percent_text(0.999, 2) == "100 %");
  CHECK(percent_text(0.1234, 3) == "12.3 %");
  CHECK(percent_text(0.00123, 2) == "0.12 %");
  CHECK(percent_text(0.0, 2) == "0 %");
  CHECK(percent_text(1e-9, 2) == "1e-07 %");
  CHECK(percent_text(1e-312, 2) == "1e-310 %");  // hardly above 0
}

}  // namespace
}  // namespace equarx::output::table_test
