#include "importers/chakra/trace.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace equarx::chakra::trace_test {
namespace {

TEST_CASE("names of collectives are unique") {
  std::set<std::string_view> names;
  for (int number = 0; number <= static_cast<int>(CollectiveKind::barrier); ++number)
    CHECK(names.insert(name(static_cast<CollectiveKind>(number))).second);
  CHECK(name(CollectiveKind::reduce_scatter) == "reduce-scatter");
}

}  // namespace
}  // namespace equarx::chakra::trace_test
