#include "models/values/error_feedback.hpp"

#include <array>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::error_feedback_test {
namespace {

using namespace unit_rings;

constexpr std::uint64_t kElements = 45;

/// The last unit but one, which has one real element, 44, and one of padding.
struct Losses {
  Losses() {
    for (std::vector<float>& one : losses) lost.emplace_back(one);
    ring.geometry.start(unit_of(1, 3, 1));
    input.read();
  }

  Ring ring{kElements};
  TensorSource source{numerics::InputSpec{}, kElements, numerics::ElementFormat::fp32};
  UnitInput input{ring.geometry, source};
  std::vector<std::vector<float>> losses{kRanks, std::vector<float>(kElements)};
  std::vector<std::span<float>> lost;
};

TEST_CASE("losses are added to the inputs once") {
  Losses all;
  ErrorFeedback feedback(all.ring.geometry, &all.lost);
  CHECK(feedback.enabled());
  all.losses[2][44] = 0.5F;
  all.losses[2][43] = 7.0F;  // another unit's
  const float before = all.input.values(2)[0];
  feedback.add_to(all.input);
  CHECK(all.input.values(2)[0] == before + 0.5F);
  CHECK(all.losses[2][44] == 0.0F);
  CHECK(all.losses[2][43] == 7.0F);
}

TEST_CASE("finite losses accumulate in units of the tensor, apart from padding") {
  Losses all;
  ErrorFeedback feedback(all.ring.geometry, &all.lost);
  const RankTile tile{.rank = 1, .range = {0, 2}};
  feedback.save(std::array{1.75F, 3.0F});
  feedback.record(tile, std::array{1.5F, 1.0F}, 4.0F);
  CHECK(all.losses[1][44] == 1.0F);
  feedback.record(tile, std::array{1.0F, 1.0F});
  CHECK(all.losses[1][44] == 1.75F);
  feedback.save(std::array{std::numeric_limits<float>::infinity(), 0.0F});
  feedback.record(tile, std::array{1.0F, 0.0F});
  CHECK(all.losses[1][44] == 1.75F);
  feedback.record({.rank = 1, .range = {1, 2}}, std::array{9.0F});
  CHECK(all.losses[1][44] == 1.75F);
}

TEST_CASE("without feedback, nothing is added or recorded") {
  Losses all;
  ErrorFeedback feedback(all.ring.geometry, nullptr);
  const float before = all.input.values(0)[0];
  feedback.add_to(all.input);
  feedback.save(std::array{1.0F});
  feedback.record({.rank = 0, .range = {0, 1}}, std::array{0.0F});
  CHECK_FALSE(feedback.enabled());
  CHECK(all.input.values(0)[0] == before);
}

}  // namespace
}  // namespace equarx::values::error_feedback_test
