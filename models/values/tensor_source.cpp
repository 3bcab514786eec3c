#include "models/values/tensor_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/numerics/codec/round_values.hpp"
#include "models/values/tensor_types.hpp"

namespace equarx::values {

TensorSource::TensorSource(const numerics::InputSpec& spec, std::uint64_t elements,
                           numerics::ElementFormat format)
    : values_(spec), elements_(elements), format_(format) {}

TensorSource::TensorSource(tensors::TensorFiles files, std::uint64_t elements,
                           numerics::ElementFormat format)
    : values_(std::move(files)), elements_(elements), format_(format) {}

TensorSource::TensorSource(std::vector<tensors::MemoryTensor> ranks, std::uint64_t elements,
                           numerics::ElementFormat format)
    : values_(std::move(ranks)), elements_(elements), format_(format) {}

TensorSource TensorSource::grouped(const TensorSource& source, std::uint32_t count) {
  TensorSource fewer(numerics::InputSpec{}, source.elements(), source.format());
  fewer.values_ = Grouped{std::make_shared<const TensorSource>(source), count};
  return fewer;
}

TensorSource TensorSource::prefix(const TensorSource& source, std::uint64_t elements) {
  TensorSource first = grouped(source, 1);
  first.elements_ = elements;
  return first;
}

void TensorSource::sum_group(const Grouped& grouped, std::uint32_t rank, std::uint64_t first,
                             std::span<float> values) const {
  if (grouped.count == 1) return grouped.source->read(rank, first, values);
  std::vector<float> term(values.size());
  std::ranges::fill(values, 0.0F);
  for (std::uint32_t i = 0; i < grouped.count; ++i) {
    grouped.source->read(rank * grouped.count + i, first, term);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] += term[j];
  }
}

void TensorSource::keep(std::uint64_t most_bytes) {
  // The cache reads from a copy of this source without a cache, to avoid a reference cycle.
  TensorSource source = *this;
  source.cache_.reset();
  source.format_ = numerics::ElementFormat::fp32;  // the cache rounds values when it stores them
  cache_ = std::make_shared<ValueCache>(
      most_bytes, format_,
      [source](std::uint32_t rank, std::uint64_t first, std::span<float> values) {
        source.make(rank, first, values);
      });
}

void TensorSource::read(std::uint32_t rank, std::uint64_t first, std::span<float> values) const {
  if (cache_)
    cache_->read(rank, first, values);
  else
    make(rank, first, values);
}

void TensorSource::read_rows(std::uint32_t rank, std::uint64_t first, std::size_t columns,
                             std::span<float> values) const {
  for (; !values.empty(); first += numerics::kRegisterElements) {
    const std::span<float> row = values.first(std::min(columns, values.size()));
    read(rank, first, row);
    values = values.subspan(row.size());
  }
}

void TensorSource::make(std::uint32_t rank, std::uint64_t first, std::span<float> values) const {
  const std::uint64_t left = elements_ - std::min(elements_, first);
  const std::span<float> real = values.first(std::min<std::uint64_t>(values.size(), left));
  bool rounded = false;
  if (const auto* spec = std::get_if<numerics::InputSpec>(&values_)) {
    numerics::generate(*spec, rank, first, real);
  } else if (real.empty()) {
    // Nothing to read past the end.
  } else if (const auto* files = std::get_if<tensors::TensorFiles>(&values_)) {
    const bool leading_axis = files->size() == 1;
    const auto& file = *(*files)[leading_axis ? 0 : rank];
    file.read((leading_axis ? rank * elements_ : 0) + first, real);
    rounded = element_format(file.dtype()) == format_;
  } else if (const auto* grouped = std::get_if<Grouped>(&values_)) {
    sum_group(*grouped, rank, first, real);
  } else {
    const auto& tensor = std::get<std::vector<tensors::MemoryTensor>>(values_)[rank];
    tensor.read(first, real);
    rounded = element_format(tensor.dtype()) == format_;
  }
  if (!rounded) round_to_tensor(format_, real);
  std::ranges::fill(values.subspan(real.size()), 0.0F);
}

void round_to_tensor(numerics::ElementFormat format, std::span<float> values) {
  if (std::ranges::find(numerics::kTensorFormats, format) == numerics::kTensorFormats.end())
    throw std::logic_error(std::string(numerics::name(format)) + " is not a tensor type");
  numerics::round_to_element(format, values);
}

}  // namespace equarx::values
