// The tensors of a run as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/result_keeper.hpp"
#include "experiments/run/tensor_store.hpp"

namespace equarx::run {

/// Which files the tensors of a run are in.
struct TensorPaths {
  std::vector<std::filesystem::path> results;  ///< by collective
  std::optional<std::filesystem::path> exact_sum;
  std::vector<std::filesystem::path> inputs;  ///< by rank
};

/// All of them.
std::vector<std::filesystem::path> all_of(const TensorPaths& paths);

/// Writes tensors into files (make_tensor_store()): for each collective what ranks end with, under its label, and what
/// it should be, "exact_sum", where values are summed; if wanted, what ranks begin with, too: "input_0" and so on. In
/// the type of the tensor; the exact sum in FP64. Nothing is held in memory, so tensors may be of any size.
class TensorFiles : public ResultKeeper {
 public:
  /// Makes room for the files at `path`. The plan must outlive it.
  /// @throws InputError if not every element is computed, or if the files cannot be written.
  TensorFiles(const std::filesystem::path& path, const plan::Plan& plan, bool inputs);

  values::ResultTensor& result_of(const plan::CollectivePlan& collective) override;

  /// Where the tensors will be.
  TensorPaths paths() const;

  /// Once the run has ended: computes what it does not give, and puts all files in place.
  /// @throws InputError if they cannot be written
  void keep();

 private:
  void fill_inputs();
  void fill_exact_sum();

  const plan::Plan& plan_;
  // Places in the store: results by collective, then the exact sum, then inputs by rank.
  std::size_t results_;
  std::size_t sums_;  ///< 0 or 1
  std::size_t inputs_;
  std::unique_ptr<TensorStore> store_;
  std::vector<std::unique_ptr<values::ResultTensor>> result_tensors_;  ///< by collective
};

}  // namespace equarx::run
