// Writes the tensors of a run to files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/result_sink.hpp"
#include "experiments/run/tensor_store.hpp"

namespace equarx::run {

/// Collectives on the same inputs, whose tensors are written together.
struct TensorSet {
  std::string group;                   ///< StoredTensor::group of all its tensors
  const config::TensorConfig* tensor;  ///< of each rank; computed whole; must outlive the files
  collectives::Collective collective;
  std::uint32_t ranks;
  std::vector<std::string> labels;  ///< of the results
  /// Returns the index in `labels` for the result of a collective.
  std::function<std::size_t(const plan::CollectivePlan&)> index_of;
  /// By label: label with the same result, which is computed for the first one only; empty: itself.
  std::vector<std::size_t> same_as = {};
};

/// Returns the collectives of a plan, which must outlive the files.
/// @throws InputError if not every element is computed
TensorSet tensor_set(const plan::Plan& plan);

/// @throws InputError for the keys of an experiment if not every element is computed
void check_whole(const config::TensorConfig& tensor, bool numerics);

/// Paths of the tensors of a set.
struct TensorPaths {
  std::vector<std::filesystem::path> results;  ///< by label
  std::optional<std::filesystem::path> exact_sum;
  std::vector<std::filesystem::path> inputs;  ///< by rank
};

/// Writes tensors into files (make_tensor_store()): each result under its label, "exact_sum" (FP64)
/// if the collective sums, and optionally the inputs "input_0", "input_1", ... Results and inputs
/// have the type of the tensor. Nothing is held in memory, so tensors may have any size.
class TensorFiles {
 public:
  /// Allocates the files at `path`. @throws InputError if they cannot be written
  TensorFiles(const std::filesystem::path& path, std::vector<TensorSet> sets, bool inputs);
  ~TensorFiles();
  TensorFiles(const TensorFiles&) = delete;
  TensorFiles& operator=(const TensorFiles&) = delete;

  /// Receiver of the results of a set.
  ResultSink& sink(std::size_t set = 0);

  /// Final paths of the tensors of a set.
  TensorPaths paths(std::size_t set = 0) const;
  /// Final paths of all tensors.
  std::vector<std::filesystem::path> all_paths() const;

  /// To be called after the run: computes inputs and exact sums, and moves all files to their final
  /// paths.
  /// @throws InputError if they cannot be written
  void keep();

 private:
  class Written;

  std::vector<std::unique_ptr<Written>> sets_;
  std::unique_ptr<TensorStore> store_;
};

}  // namespace equarx::run
