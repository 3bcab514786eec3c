// Writes the tensors of a run to files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/result_sink.hpp"
#include "experiments/run/tensor_store.hpp"

namespace equarx::run {

/// Paths of the tensors of a run.
struct TensorPaths {
  std::vector<std::filesystem::path> results;  ///< by collective
  std::optional<std::filesystem::path> exact_sum;
  std::vector<std::filesystem::path> inputs;  ///< by rank
};

/// Returns all paths in one list.
std::vector<std::filesystem::path> all_of(const TensorPaths& paths);

/// Writes tensors into files (make_tensor_store()): the result of each collective under its label,
/// "exact_sum" (FP64) if the collective sums, and optionally the inputs "input_0", "input_1", ...
/// Results and inputs have the type of the tensor. Nothing is held in memory, so tensors may have
/// any size.
class TensorFiles : public ResultSink {
 public:
  /// Allocates the files at `path`. The plan must outlive this object.
  /// @throws InputError if not every element is computed or the files cannot be written
  TensorFiles(const std::filesystem::path& path, const plan::Plan& plan, bool inputs);

  values::ResultTensor& result_of(const plan::CollectivePlan& collective) override;

  /// Final paths of the tensors.
  TensorPaths paths() const;

  /// To be called after the run: computes inputs and exact sum, and moves all files to their final
  /// paths.
  /// @throws InputError if they cannot be written
  void keep();

 private:
  void fill_inputs();
  void fill_exact_sum();

  const plan::Plan& plan_;
  // Order in the store: results by collective, then the exact sum, then inputs by rank.
  std::size_t results_;
  std::size_t sums_;  ///< 0 or 1
  std::size_t inputs_;
  std::unique_ptr<TensorStore> store_;
  std::vector<std::unique_ptr<values::ResultTensor>> result_tensors_;  ///< by collective
};

}  // namespace equarx::run
