#include "experiments/run/tensor_files.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/run/source.hpp"
#include "models/tensors/file_error.hpp"
#include "models/values/tensor_types.hpp"

namespace equarx::run {
namespace {

namespace fs = std::filesystem;
using input::InputError;
using numerics::ElementFormat;

constexpr std::size_t kElementsPerPiece = 65536;

/// A label as the name of a file that needs no quotes.
std::string file_name(std::string name) {
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 &&
        std::string_view("-_.+").find(letter) == std::string_view::npos)
      letter = '_';
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

std::vector<std::uint64_t> tensor_shape(const config::TensorConfig& tensor) {
  return tensor.shape.empty() ? std::vector{tensor.elements} : tensor.shape;
}

void check_all_is_computed(const config::ExperimentConfig& config) {
  if (!config.numerics)
    throw InputError("/numerics", "is off, so there are no tensors to write; switch it on");
  if (config.tensor.sample < 1.0)
    throw InputError("/tensor/sample",
                     "is below 1, so tensors are computed in part; set it to 1 to write them");
}

template <typename Write>
auto as_input_error(Write&& write) {
  try {
    return std::forward<Write>(write)();
  } catch (const tensors::FileError& error) {
    throw InputError("", error.what());
  }
}

/// Calls `fill` for the elements of a tensor, piece by piece.
template <typename Fill>
void for_each_piece(std::uint64_t elements, Fill&& fill) {
  for (std::uint64_t first = 0; first < elements; first += kElementsPerPiece)
    fill(first, std::min<std::uint64_t>(kElementsPerPiece, elements - first));
}

}  // namespace

TensorFiles::TensorFiles(fs::path folder, const plan::Plan& plan, bool inputs)
    : folder_(std::move(folder)), plan_(plan) {
  const config::ExperimentConfig& config = plan.config;
  check_all_is_computed(config);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw InputError(
        "", fmt::format("cannot make the folder {}: {}", folder_.string(), error.message()));
  const std::uint32_t ranks = plan.collectives.front().candidates.front().program.ranks();
  const std::vector<std::uint64_t> shape = tensor_shape(config.tensor);
  for (std::uint32_t rank = 0; inputs && rank < ranks; ++rank)
    inputs_.push_back(make(fmt::format("input_{}", rank), shape));
  if (collectives::sums(config.collective)) {
    sum_path_ = place("exact_sum");
    as_input_error([&] { sum_.emplace(tensors::NpyFile::of_doubles(sum_path_, shape)); });
  }
  std::vector<std::uint64_t> result_shape = shape;
  // An AllToAll leaves every rank with another tensor.
  if (config.collective == collectives::Collective::all_to_all)
    result_shape.insert(result_shape.begin(), ranks);
  for (const config::CollectiveConfig& collective : config.collectives)
    results_.push_back(make(collective.label, result_shape));
}

/// A name that no other file has.
fs::path TensorFiles::place(const std::string& name) {
  std::string free = file_name(name);
  while (!names_.insert(free).second) free += '_';
  return folder_ / (free + ".npy");
}

TensorFiles::File TensorFiles::make(const std::string& name,
                                    const std::vector<std::uint64_t>& shape) {
  const ElementFormat format = plan_.config.tensor.dtype;
  fs::path path = place(name);
  tensors::NpyFile npy =
      as_input_error([&] { return tensors::NpyFile(path, values::file_type(format), shape); });
  const std::span<std::byte> data = npy.data();
  return {std::move(path), std::move(npy), std::make_unique<values::ResultTensor>(format, data)};
}

values::ResultTensor& TensorFiles::result_of(const plan::CollectivePlan& collective) {
  const auto& all = plan_.config.collectives;
  const auto found =
      std::ranges::find(all, collective.config.label, &config::CollectiveConfig::label);
  return *results_[static_cast<std::size_t>(found - all.begin())].tensor;
}

std::vector<fs::path> TensorFiles::paths() const {
  std::vector<fs::path> paths;
  for (const File& file : results_) paths.push_back(file.path);
  if (sum_) paths.push_back(sum_path_);
  for (const File& file : inputs_) paths.push_back(file.path);
  return paths;
}

void TensorFiles::keep() {
  fill_inputs();
  if (sum_) fill_exact_sum();
  as_input_error([&] {
    for (std::vector<File>* files : {&results_, &inputs_})
      for (File& file : *files) file.npy.keep();
    if (sum_) sum_->keep();
  });
}

void TensorFiles::fill_inputs() {
  const values::TensorSource source = make_source(plan_.config.tensor);
  std::vector<float> values;
  for (std::uint32_t rank = 0; rank < inputs_.size(); ++rank)
    for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
      values.resize(count);
      source.read(rank, first, values);
      inputs_[rank].tensor->write(first, values);
    });
}

/// In the order of ranks, as errors are against it.
void TensorFiles::fill_exact_sum() {
  const values::TensorSource source = make_source(plan_.config.tensor);
  const std::uint32_t ranks = plan_.collectives.front().candidates.front().program.ranks();
  std::vector<float> values;
  std::vector<double> sums;
  for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
    values.resize(count);
    sums.assign(count, 0.0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      source.read(rank, first, values);
      for (std::uint64_t i = 0; i < count; ++i) sums[i] += values[i];
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(sums));
    std::ranges::copy(bytes, sum_->data().subspan(first * sizeof(double)).begin());
  });
}

}  // namespace equarx::run
