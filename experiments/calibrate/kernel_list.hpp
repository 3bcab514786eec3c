// Lists of measured kernels: GEMMs, passes over memory, casts, attention, convolutions, sorts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// A row of a list.
struct KernelRow {
  std::string place;  ///< "kernels.csv, line 3", for messages
  std::string what;   ///< name given by the row, or kind of the kernel
  std::string group;  ///< kind of kernel and type
  workloads::Operation operation;
  hardware::ObservationRole role = hardware::ObservationRole::check;
  std::optional<double> measured_s;  ///< above 0
  bool back_to_back = false;         ///< without the timer's overhead
};

/// Reads a list whose rows may lack role and time. @throws InputError naming file and line, also for
/// rates above the peak of `hardware`
std::vector<KernelRow> read_kernel_file(const std::string& file, const hardware::Chip& hardware);

/// Reads an entry of "kernels" of a calibration file: a list as JSON lines (.jsonl) or as a table
/// with a header line (.csv). Each row has the kernel, its shape, its role and its time
/// (docs/calibrate.md). `hardware`: the chip before the fit, whose peak rates bound the rows.
/// @throws InputError naming file and line for unknown keys, missing shapes, times without unit, and
/// rates above the peak
std::vector<Measurement> read_kernel_list(input::ObjectReader reader,
                                          const hardware::Chip& hardware,
                                          const std::filesystem::path& folder);

/// Schema of the entry, with annotations.
input::Json kernel_list_schema();

}  // namespace equarx::calibrate
