// The tensors of a run as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/result_keeper.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::run {

/// Writes tensors as .npy files into a folder, each whole or not at all: for each collective what ranks end with,
/// `LABEL.npy`, and what it should be, `exact_sum.npy`, where values are summed; if wanted, what ranks begin with, too:
/// `input_0.npy` and so on. In the type of the tensor, little-endian (bf16 and FP8 as their bits, '<u2' and '|u1'); the
/// exact sum in FP64. Nothing is held in memory, so tensors may be of any size.
class TensorFiles : public ResultKeeper {
 public:
  /// Makes the folder, and room for the files. The plan must outlive it.
  /// @throws InputError if not every element is computed, or if the files cannot be written.
  TensorFiles(std::filesystem::path folder, const plan::Plan& plan, bool inputs);

  values::ResultTensor& result_of(const plan::CollectivePlan& collective) override;

  /// Where the files will be, in the order in which they are listed above.
  std::vector<std::filesystem::path> paths() const;

  /// Once the run has ended: computes what it does not give, and puts all files in place.
  /// @throws InputError if they cannot be written
  void keep();

 private:
  struct File {
    std::filesystem::path path;
    tensors::NpyFile npy;
    std::unique_ptr<values::ResultTensor> tensor;  ///< in the file
  };
  std::filesystem::path place(const std::string& name);
  File make(const std::string& name, const std::vector<std::uint64_t>& shape);
  void fill_inputs();
  void fill_exact_sum();

  std::filesystem::path folder_;
  const plan::Plan& plan_;
  std::set<std::string> names_;
  std::vector<File> results_;  ///< in the order of the collectives
  std::vector<File> inputs_;   ///< by rank
  std::filesystem::path sum_path_;
  std::optional<tensors::NpyFile> sum_;
};

}  // namespace equarx::run
