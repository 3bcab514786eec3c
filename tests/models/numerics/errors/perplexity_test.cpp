#include "models/numerics/errors/perplexity.hpp"

#include "tests/catch.hpp"

namespace equarx::numerics::perplexity_test {
namespace {

TEST_CASE("the growth of perplexity follows the rule of docs/quality.md") {
  CHECK(perplexity_text(0.0) == "grows by less than 0.1 %");
  CHECK(perplexity_text(3e-4) == "grows by less than 0.1 %");
  CHECK(perplexity_text(5e-4) == "grows by up to 0.1 %");
  CHECK(perplexity_text(9.2e-4) == "grows by up to 0.19 %");  // int6 over 2 ranks, seed 2: 0.19 %
  CHECK(perplexity_text(1e-2) == "grows by 1 to 1.6 %");
  CHECK(perplexity_text(0.1) == "grows by more than 10 %, beyond the studied range");
}

}  // namespace
}  // namespace equarx::numerics::perplexity_test
