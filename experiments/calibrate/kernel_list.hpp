// Lists of measured kernels: GEMMs, passes over memory, casts, attention, convolutions, sorts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

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
