#include "experiments/run/tensor_files.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/run/source.hpp"
#include "models/values/tensor_types.hpp"

namespace equarx::run {
namespace {

namespace fs = std::filesystem;
using input::InputError;
using numerics::ElementFormat;

constexpr std::size_t kElementsPerPiece = 65536;

std::vector<std::uint64_t> tensor_shape(const config::TensorConfig& tensor) {
  return tensor.shape.empty() ? std::vector{tensor.elements} : tensor.shape;
}

void check_all_is_computed(const config::ExperimentConfig& config) {
  if (!config.numerics)
    throw InputError("/numerics", "is off, so there are no tensors to write; switch it on");
  if (config.tensor.sample < 1.0)
    throw InputError("/tensor/sample",
                     "is below 1, so tensors are only partly computed; set it to 1 to write them");
}

std::uint32_t ranks_of(const plan::Plan& plan) {
  return plan.collectives.front().candidates.front().program.ranks();
}

/// A list of tensors with distinct names.
class TensorList {
 public:
  void add(std::string name, tensors::FileType type, std::vector<std::uint64_t> shape) {
    while (!names_.insert(name).second) name += '_';
    tensors_.push_back({std::move(name), type, std::move(shape)});
  }
  const std::vector<tensors::NewTensor>& tensors() const { return tensors_; }

 private:
  std::set<std::string> names_ = {"__metadata__"};  // reserved in .safetensors
  std::vector<tensors::NewTensor> tensors_;
};

TensorList tensors_of(const plan::Plan& plan, std::size_t sums, std::size_t inputs) {
  const config::ExperimentConfig& config = plan.config;
  const tensors::FileType type = values::file_type(config.tensor.dtype);
  const std::vector<std::uint64_t> shape = tensor_shape(config.tensor);
  std::vector<std::uint64_t> result_shape = shape;
  // After an AllToAll every rank has a different tensor.
  if (config.collective == collectives::Collective::all_to_all)
    result_shape.insert(result_shape.begin(), ranks_of(plan));
  TensorList list;
  for (const config::CollectiveConfig& collective : config.collectives)
    list.add(collective.label, type, result_shape);
  if (sums > 0) list.add("exact_sum", tensors::FileType::fp64, shape);
  for (std::size_t rank = 0; rank < inputs; ++rank)
    list.add(fmt::format("input_{}", rank), type, shape);
  return list;
}

/// Calls fill(first, count) for consecutive pieces of a tensor.
template <typename Fill>
void for_each_piece(std::uint64_t elements, Fill&& fill) {
  for (std::uint64_t first = 0; first < elements; first += kElementsPerPiece)
    fill(first, std::min<std::uint64_t>(kElementsPerPiece, elements - first));
}

}  // namespace

std::vector<fs::path> all_of(const TensorPaths& paths) {
  std::vector<fs::path> all = paths.results;
  if (paths.exact_sum) all.push_back(*paths.exact_sum);
  all.insert(all.end(), paths.inputs.begin(), paths.inputs.end());
  return all;
}

TensorFiles::TensorFiles(const fs::path& path, const plan::Plan& plan, bool inputs)
    : plan_(plan),
      results_(plan.config.collectives.size()),
      sums_(collectives::sums(plan.config.collective) ? 1 : 0),
      inputs_(inputs ? ranks_of(plan) : 0) {
  check_all_is_computed(plan.config);
  store_ = make_tensor_store(path, tensors_of(plan, sums_, inputs_).tensors());
  for (std::size_t i = 0; i < results_; ++i)
    result_tensors_.push_back(
        std::make_unique<values::ResultTensor>(plan.config.tensor.dtype, store_->data(i)));
}

values::ResultTensor& TensorFiles::result_of(const plan::CollectivePlan& collective) {
  const auto& all = plan_.config.collectives;
  const auto found =
      std::ranges::find(all, collective.config.label, &config::CollectiveConfig::label);
  return *result_tensors_[static_cast<std::size_t>(found - all.begin())];
}

TensorPaths TensorFiles::paths() const {
  TensorPaths paths;
  for (std::size_t i = 0; i < results_; ++i) paths.results.push_back(store_->path(i));
  if (sums_ > 0) paths.exact_sum = store_->path(results_);
  for (std::size_t rank = 0; rank < inputs_; ++rank)
    paths.inputs.push_back(store_->path(results_ + sums_ + rank));
  return paths;
}

void TensorFiles::keep() {
  fill_inputs();
  if (sums_ > 0) fill_exact_sum();
  store_->keep();
}

void TensorFiles::fill_inputs() {
  const values::TensorSource source = make_source(plan_.config.tensor);
  std::vector<float> values;
  for (std::uint32_t rank = 0; rank < inputs_; ++rank) {
    values::ResultTensor tensor(plan_.config.tensor.dtype, store_->data(results_ + sums_ + rank));
    for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
      values.resize(count);
      source.read(rank, first, values);
      tensor.write(first, values);
    });
  }
}

/// Sums in rank order, as the reference of the error metrics does.
void TensorFiles::fill_exact_sum() {
  const values::TensorSource source = make_source(plan_.config.tensor);
  const std::span<std::byte> stored = store_->data(results_);
  std::vector<float> values;
  std::vector<double> sums;
  for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
    values.resize(count);
    sums.assign(count, 0.0);
    for (std::uint32_t rank = 0; rank < ranks_of(plan_); ++rank) {
      source.read(rank, first, values);
      for (std::uint64_t i = 0; i < count; ++i) sums[i] += values[i];
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(sums));
    std::ranges::copy(bytes, stored.subspan(first * sizeof(double)).begin());
  });
}

}  // namespace equarx::run
