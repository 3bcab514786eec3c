#include "models/values/unit_result.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/numerics/codec/hadamard.hpp"
#include "models/values/make_room.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

using collectives::Range;

void UnitResult::start() {
  const std::size_t rows = result_rows(geometry_.program());
  const std::size_t elements = rows * geometry_.elements();
  make_room(values_, elements, rows * geometry_.most_elements());
  delivered_.assign(elements, false);
  cast_back_.assign(geometry_.elements(), false);
  ranks_identical_ = true;
  at_largest_ = 0;
}

void UnitResult::deliver(std::uint32_t row, const Range& range, std::span<const float> values) {
  const std::size_t begin = row * geometry_.elements() + range.begin;
  const std::span<float> first = std::span(values_).subspan(begin, range.size());
  if (!delivered_[begin]) {
    delivered_[begin] = true;
    std::ranges::copy(values, first.begin());
  } else if (std::memcmp(first.data(), values.data(), first.size_bytes()) != 0) {
    ranks_identical_ = false;
  }
}

void UnitResult::cast_back(const Range& range) {
  if (cast_back_[range.begin]) return;
  cast_back_[range.begin] = true;
  if (shared_ != nullptr) count_largest(range);
  const collectives::Program& program = geometry_.program();
  for (std::uint32_t row = 0; row < result_rows(program); ++row) {
    const auto values =
        std::span<float>(values_).subspan(row * geometry_.elements() + range.begin, range.size());
    if (shared_ != nullptr) shared_->decode(values);
    if (program.rotated) numerics::rotate_back(values);
    round_to_tensor(program.cast_from.value(), values);
  }
}

void UnitResult::count_largest(const Range& range) {
  const float largest = shared_->largest_code();
  const Range real = geometry_.without_padding(range);
  for (std::size_t i = real.begin; i < real.end; ++i)
    if (std::fabs(values_[i]) >= largest) ++at_largest_;
}

}  // namespace equarx::values
