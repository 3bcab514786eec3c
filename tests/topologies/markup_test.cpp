#include "topologies/markup.hpp"

#include "tests/catch.hpp"

namespace equarx::topology::markup_test {
namespace {

TEST_CASE("text is escaped for markup") {
  CHECK(escaped_for_markup("a < b & \"c\" > 'd'") ==
        "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  CHECK(escaped_for_markup("\x01 \n") == "? ?");
  CHECK(escaped_for_markup("\xC3\xBC") == "\xC3\xBC");  // UTF-8 is unchanged
  CHECK(escaped_for_markup("").empty());
}

}  // namespace
}  // namespace equarx::topology::markup_test
