#include "models/values/error_feedback.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/values/make_room.hpp"

namespace equarx::values {

void ErrorFeedback::add_to(UnitInput& input) {
  if (!enabled() || geometry_.real_elements() == 0) return;
  for (collectives::Rank rank = 0; rank < lost_->size(); ++rank) {
    const std::span<float> lost =
        (*lost_)[rank].subspan(geometry_.first_element(), geometry_.real_elements());
    const std::span<float> values = input.values(rank);
    for (std::size_t i = 0; i < lost.size(); ++i) values[i] += std::exchange(lost[i], 0.0F);
  }
}

std::span<float> ErrorFeedback::unrounded(std::size_t elements) {
  make_room(unrounded_, elements);
  return unrounded_;
}

void ErrorFeedback::save(std::span<const float> values) {
  if (enabled()) std::ranges::copy(values, unrounded(values.size()).begin());
}

void ErrorFeedback::record(const RankTile& tile, std::span<const float> after, float unit) {
  if (!enabled()) return;
  const collectives::Range range = geometry_.without_padding(tile.range);
  if (range.size() == 0) return;
  const std::span<float> lost =
      (*lost_)[tile.rank].subspan(geometry_.first_element() + range.begin, range.size());
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const float loss = (unrounded_[i] - after[i]) * unit;
    if (std::isfinite(loss)) lost[i] += loss;  // NaN and Inf would corrupt all later steps
  }
}

}  // namespace equarx::values
