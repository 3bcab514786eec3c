#include "models/values/unit_result.hpp"

#include <algorithm>
#include <bit>
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
  owned_ranges_.clear();
  differs_.clear();
  differing_ = 0;
  at_largest_ = 0;
}

void UnitResult::deliver(std::uint32_t row, const Range& range, std::span<const float> values) {
  const std::size_t begin = row * geometry_.elements() + range.begin;
  const std::span<float> first = std::span(values_).subspan(begin, range.size());
  if (!delivered_[begin]) {
    delivered_[begin] = true;
    std::ranges::copy(values, first.begin());
  } else {
    compare(begin, values);
  }
}

/// Compares the values of another rank with those from `begin`.
void UnitResult::compare(std::size_t begin, std::span<const float> values) {
  const std::span<const float> first = std::span(values_).subspan(begin, values.size());
  if (std::memcmp(first.data(), values.data(), first.size_bytes()) == 0) return;
  ranks_identical_ = false;
  differs_.resize(values_.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::bit_cast<std::uint32_t>(first[i]) != std::bit_cast<std::uint32_t>(values[i]))
      differs_[begin + i] = true;
}

void UnitResult::keep(const Range& range, std::span<const float> values) {
  owned_.resize(geometry_.elements());
  std::ranges::copy(values, owned_.begin() + static_cast<std::ptrdiff_t>(range.begin));
  owned_ranges_.push_back(range);
}

std::vector<UnitResult::Sums> UnitResult::sums_once(const Range& range) {
  if (cast_back_[range.begin]) return {};
  cast_back_[range.begin] = true;
  const collectives::Program& program = geometry_.program();
  const bool has_owner_only = program.collective == collectives::Collective::reduce_scatter;
  const std::uint32_t kept = owned_ranges_.empty() ? 0 : 1;
  const auto part = [&](auto& values) {
    return std::span<float>(values).subspan(range.begin, range.size());
  };
  std::vector<Sums> sums = {{part(values_), has_owner_only ? 1 : program.ranks() - kept}};
  if (kept > 0) sums.push_back({part(owned_), kept});
  return sums;
}

void UnitResult::finish() {
  for (const Range& range : owned_ranges_)
    compare(range.begin, std::span(owned_).subspan(range.begin, range.size()));
  if (differs_.empty()) return;
  const auto rows = static_cast<std::uint32_t>(differs_.size() / geometry_.elements());
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < geometry_.real_elements(row); ++i)
      differing_ += differs_[row * geometry_.elements() + i];
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
