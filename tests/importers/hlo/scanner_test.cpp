#include "importers/hlo/scanner.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo::scanner_test {
namespace {

TEST_CASE("white space and comments are skipped") {
  Scanner scanner("  /* a, b */ // rest\n %fusion.1-start = f32");
  CHECK(scanner.name() == "fusion.1-start");
  CHECK(scanner.take("="));
  CHECK_FALSE(scanner.take("bf16"));
  CHECK(scanner.word() == "f32");
  CHECK(scanner.at_end());
  CHECK(scanner.line() == 2);
}

TEST_CASE("values end outside brackets and quotes") {
  Scanner scanner(R"({a,{b}}, "x, \"y, z", [1,2]<=[2]T(1,0)
next)");
  CHECK(scanner.value(",") == "{a,{b}}");
  CHECK(scanner.take(","));
  CHECK(scanner.value(",") == R"("x, \"y, z")");
  CHECK(scanner.take(","));
  CHECK(scanner.value(",") == "[1,2]<=[2]T(1,0)");
  CHECK(scanner.at_line_end());
  CHECK(scanner.word() == "next");
}

TEST_CASE("brackets may span lines, and must be closed") {
  Scanner scanner("( a (\n\")\" b) )\nc");
  CHECK(scanner.bracketed() == " a (\n\")\" b) ");
  CHECK(scanner.word() == "c");
  CHECK(scanner.line() == 3);
  Scanner open("\n\n{ a { b }");
  CHECK_THROWS_WITH(open.bracketed(), "line 3: unclosed bracket; is the file truncated?");
  Scanner none("a");
  CHECK_THROWS_WITH(none.bracketed(), "line 1: expected a bracket");
}

}  // namespace
}  // namespace equarx::hlo::scanner_test
