#include "models/values/nonfinite_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace equarx::values {
namespace {

NonfiniteInput count(const TensorSource& source, std::uint32_t rank) {
  constexpr std::uint64_t kPiece = 1 << 16;
  NonfiniteInput counts{.rank = rank};
  std::vector<float> values;
  for (std::uint64_t first = 0; first < source.elements(); first += kPiece) {
    values.resize(std::min(kPiece, source.elements() - first));
    source.read(rank, first, values);
    for (const float value : values) {
      counts.nan += std::isnan(value) ? 1 : 0;
      counts.inf += std::isinf(value) ? 1 : 0;
    }
  }
  return counts;
}

std::string text_of(const NonfiniteInput& input) {
  std::string text = fmt::format("input of rank {} has ", input.rank);
  if (input.nan > 0) text += fmt::format("{} NaN", input.nan);
  if (input.nan > 0 && input.inf > 0) text += ", ";
  if (input.inf > 0) text += fmt::format("{} Inf", input.inf);
  return text;
}

}  // namespace

std::vector<NonfiniteInput> nonfinite_inputs(const TensorSource& source, std::uint32_t ranks) {
  std::vector<NonfiniteInput> found;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const NonfiniteInput counts = count(source, rank);
    if (counts.nan + counts.inf > 0) found.push_back(counts);
  }
  return found;
}

std::vector<std::string> texts_of(const std::vector<NonfiniteInput>& inputs) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(inputs.size(), kMost); ++i)
    texts.push_back(text_of(inputs[i]));
  if (inputs.size() > kMost)
    texts.push_back(fmt::format("inputs of {} more ranks have NaN or Inf", inputs.size() - kMost));
  return texts;
}

}  // namespace equarx::values
