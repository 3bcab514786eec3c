#include "importers/common/audit.hpp"

#include <set>

#include "tests/catch.hpp"

namespace equarx::imports::audit_test {
namespace {

AuditFinding finding(const std::string& op_name, const std::string& why = "a") {
  return {.rule = AuditRule::casts,
          .ops = {{op_name, 8.0, 2.0}},
          .kind = "all-gather",
          .type = "f32",
          .op_name = op_name,
          .place = "line 1",
          .excess_bytes = 3.0,
          .why = why,
          .remedy = "b",
          .changes = {{.group = op_name, .into = {}}}};
}

TEST_CASE("every rule has its own name and a title") {
  std::set<std::string_view> names;
  for (const AuditRule rule : kAuditRules) {
    names.insert(name(rule));
    CHECK_FALSE(title(rule).empty());
  }
  CHECK(names.size() == kAuditRules.size());
}

TEST_CASE("findings of equal layers are merged") {
  const auto groups =
      grouped({finding("f/layers_9/w"), finding("f/layers_10/w"), finding("f/out")});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].ops.size() == 2);
  CHECK(groups[0].changes.size() == 2);
  CHECK(groups[0].excess_bytes == 6.0);
  CHECK(op_pattern("a12b/3") == "a#b/#");
}

TEST_CASE("findings of other reasons or unnamed places are separate") {
  CHECK(grouped({finding("f"), finding("f", "c")}).size() == 2);
  AuditFinding first = finding("");
  AuditFinding second = finding("");
  second.place = "line 2";
  CHECK(grouped({first, second}).size() == 2);
  first.is_of_compiler = second.is_of_compiler = true;
  CHECK(grouped({first, second}).size() == 1);
}

}  // namespace
}  // namespace equarx::imports::audit_test
