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

/// With row counts, room for the most rows of any pair.
std::vector<std::uint64_t> tensor_shape(const config::TensorConfig& tensor) {
  if (tensor.counts) {
    const collectives::RowCounts& counts = tensor.counts->counts;
    const std::uint64_t most = collectives::most_rows(counts);
    return {tensor.elements / counts.row_elements / most, most, counts.row_elements};
  }
  return tensor.shape.empty() ? std::vector{tensor.elements} : tensor.shape;
}

/// Tensors with distinct names.
class TensorList {
 public:
  void add(const std::string& group, std::string name, tensors::FileType type,
           std::vector<std::uint64_t> shape) {
    while (!names_.insert(group.empty() ? name : fmt::format("{}/{}", group, name)).second)
      name += '_';
    tensors_.push_back({group, {std::move(name), type, std::move(shape)}});
  }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  std::set<std::string> names_ = {"__metadata__"};  // reserved in .safetensors
  std::vector<StoredTensor> tensors_;
};

/// Calls fill(first, count) for consecutive pieces of a tensor.
template <typename Fill>
void for_each_piece(std::uint64_t elements, Fill&& fill) {
  for (std::uint64_t first = 0; first < elements; first += kElementsPerPiece)
    fill(first, std::min<std::uint64_t>(kElementsPerPiece, elements - first));
}

}  // namespace

void check_whole(const config::TensorConfig& tensor, bool numerics) {
  if (!numerics)
    throw InputError("/numerics", "is off, so there are no tensors to write; switch it on");
  if (tensor.sample < 1.0)
    throw InputError("/tensor/sample",
                     "is below 1, so tensors are only partly computed; set it to 1 to write them");
}

TensorSet tensor_set(const plan::Plan& plan) {
  const config::ExperimentConfig& config = plan.config;
  check_whole(config.tensor, config.numerics);
  TensorSet set{.group = {},
                .tensor = &config.tensor,
                .collective = config.collective,
                .ranks = plan.collectives.front().candidates.front().program.ranks(),
                .labels = {},
                .index_of = {}};
  for (const config::CollectiveConfig& collective : config.collectives)
    set.labels.push_back(collective.label);
  set.index_of = [labels = set.labels](const plan::CollectivePlan& collective) {
    return static_cast<std::size_t>(std::ranges::find(labels, collective.config.label) -
                                    labels.begin());
  };
  return set;
}

/// The tensors of a set, at consecutive places of the store: results by label, then the exact sum,
/// then inputs by rank.
class TensorFiles::Written : public ResultSink {
 public:
  Written(TensorSet set, bool inputs, TensorList& list)
      : set_(std::move(set)),
        first_(list.tensors().size()),
        sums_(collectives::sums(set_.collective) ? 1 : 0),
        inputs_(inputs ? set_.ranks : 0) {
    add_to(list);
  }

  /// Places the results in a store with the tensors of the list.
  void place_in(TensorStore& store) {
    store_ = &store;
    for (std::size_t i = 0; i < set_.labels.size(); ++i)
      results_.push_back(
          std::make_unique<values::ResultTensor>(set_.tensor->dtype, store.data(first_ + i)));
  }

  values::ResultTensor& result_of(const plan::CollectivePlan& collective) override {
    return *results_.at(set_.index_of(collective));
  }

  TensorPaths paths() const {
    TensorPaths paths;
    for (std::size_t i = 0; i < set_.labels.size(); ++i)
      paths.results.push_back(store_->path(first_ + i));
    if (sums_ > 0) paths.exact_sum = store_->path(sum_at());
    for (std::size_t rank = 0; rank < inputs_; ++rank)
      paths.inputs.push_back(store_->path(input_at(rank)));
    return paths;
  }

  /// Computes everything but distinct results.
  void fill() {
    for (std::size_t i = 0; i < set_.same_as.size(); ++i)
      if (set_.same_as[i] != i)
        std::ranges::copy(store_->data(first_ + set_.same_as[i]), store_->data(first_ + i).begin());
    fill_inputs();
    if (sums_ > 0) fill_exact_sum();
  }

 private:
  void add_to(TensorList& list) const {
    const tensors::FileType type = values::file_type(set_.tensor->dtype);
    const std::vector<std::uint64_t> shape = tensor_shape(*set_.tensor);
    std::vector<std::uint64_t> result_shape = shape;
    if (collectives::differs_by_rank(set_.collective))
      result_shape.insert(result_shape.begin(), set_.ranks);
    for (const std::string& label : set_.labels) list.add(set_.group, label, type, result_shape);
    if (sums_ > 0) list.add(set_.group, "exact_sum", tensors::FileType::fp64, shape);
    for (std::size_t rank = 0; rank < inputs_; ++rank)
      list.add(set_.group, fmt::format("input_{}", rank), type, shape);
  }

  std::size_t sum_at() const { return first_ + set_.labels.size(); }
  std::size_t input_at(std::size_t rank) const { return sum_at() + sums_ + rank; }

  void fill_inputs() {
    const values::TensorSource source = make_source(*set_.tensor);
    std::vector<float> values;
    for (std::uint32_t rank = 0; rank < inputs_; ++rank) {
      values::ResultTensor tensor(set_.tensor->dtype, store_->data(input_at(rank)));
      for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
        values.resize(count);
        source.read(rank, first, values);
        tensor.write(first, values);
      });
    }
  }

  /// Sums in rank order, as the reference of the error metrics does.
  void fill_exact_sum() {
    const values::TensorSource source = make_source(*set_.tensor);
    const std::span<std::byte> stored = store_->data(sum_at());
    std::vector<float> values;
    std::vector<double> sums;
    for_each_piece(source.elements(), [&](std::uint64_t first, std::uint64_t count) {
      values.resize(count);
      sums.assign(count, 0.0);
      for (std::uint32_t rank = 0; rank < set_.ranks; ++rank) {
        source.read(rank, first, values);
        for (std::uint64_t i = 0; i < count; ++i) sums[i] += values[i];
      }
      const std::span<const std::byte> bytes = std::as_bytes(std::span(sums));
      std::ranges::copy(bytes, stored.subspan(first * sizeof(double)).begin());
    });
  }

  TensorSet set_;
  std::size_t first_;  ///< its first tensor in the store
  std::size_t sums_;   ///< 0 or 1
  std::size_t inputs_;
  TensorStore* store_ = nullptr;
  std::vector<std::unique_ptr<values::ResultTensor>> results_;  ///< by label
};

TensorFiles::TensorFiles(const fs::path& path, std::vector<TensorSet> sets, bool inputs) {
  TensorList list;
  for (TensorSet& set : sets)
    sets_.push_back(std::make_unique<Written>(std::move(set), inputs, list));
  store_ = make_tensor_store(path, list.tensors());
  for (const auto& set : sets_) set->place_in(*store_);
}

TensorFiles::~TensorFiles() = default;

ResultSink& TensorFiles::sink(std::size_t set) { return *sets_.at(set); }

TensorPaths TensorFiles::paths(std::size_t set) const { return sets_.at(set)->paths(); }

std::vector<fs::path> TensorFiles::all_paths() const {
  std::vector<fs::path> all;
  for (const auto& set : sets_) {
    TensorPaths paths = set->paths();
    if (paths.exact_sum) paths.results.push_back(*paths.exact_sum);
    all.insert(all.end(), paths.results.begin(), paths.results.end());
    all.insert(all.end(), paths.inputs.begin(), paths.inputs.end());
  }
  return all;
}

void TensorFiles::keep() {
  for (const auto& set : sets_) set->fill();
  store_->keep();
}

}  // namespace equarx::run
