#include "experiments/capacity/sensitivity.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::sensitivity_test {
namespace {

TEST_CASE("decoding on one chip depends on its memory, not on links") {
  Request request = testing::small_request();
  request.tpot_s = 0.02;
  const auto all = sensitivities(request, machines_of("tpu-v6e", {1})[0], {}, 2048, 1);
  const auto find = [&](const char* key) {
    return std::ranges::find(all, key, &Sensitivity::parameter);
  };
  REQUIRE(find("hbm_bandwidth") != all.end());
  CHECK(find("hbm_bandwidth")->change > 0.0);
  CHECK(find("link_bandwidth") == all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    CHECK(std::abs(all[i].change) <= std::abs(all[i - 1].change));
}

}  // namespace
}  // namespace equarx::capacity::sensitivity_test
