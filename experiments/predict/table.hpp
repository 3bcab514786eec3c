// Tables of predictions over collectives, ranks and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/predict/query.hpp"

namespace equarx::predict {

/// Values of a table's axes.
struct Grid {
  std::vector<std::string> collectives;  ///< empty: the configured one
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint32_t> ranks;  ///< 0: all chips
};

/// Options of make_table().
struct TableOptions {
  std::string label;      ///< of the only collective to predict; empty: all
  bool errors = true;     ///< compute errors
  bool intervals = true;  ///< compute intervals
  /// Called from one thread at a time with the completed fraction, 0 to 1.
  std::function<void(double)> share = {};
};

/// A row of a table.
struct TableRow {
  std::string label;  ///< of the collective in the configuration
  Query query;
  std::shared_ptr<const Prediction> prediction;
};

/// Rows by collective, kind, ranks and size, in this order of axes.
struct Table {
  std::string hardware;     ///< name of the chip, or path of its file
  std::uint32_t chips = 0;  ///< of the machine
  std::vector<TableRow> rows;
  std::size_t left_out = 0;  ///< rows that cannot run
  std::string obstacle;      ///< of the first of these
};

/// Sizes from "1 KiB..1 GiB", doubling, and from lists like "64 KiB,1 MiB".
/// @throws input::InputError naming --bytes, also for more than 1,000
std::vector<std::uint64_t> read_sizes(const std::string& text);

/// Predicts the collectives of a configuration at all points of the grid, on all cores, for tensors
/// of its type and distribution.
/// @throws input::InputError as Predictor, for an unknown label, and if no row can run
Table make_table(const input::JsonValue& config, const Grid& grid, const TableOptions& options);

/// CSV with a line of headings: collective, dtype, format, algorithm, protocol, ranks, bytes,
/// time_us, low_us, high_us, sqnr_db. Cells without a value are empty; the SQNR of exact results is
/// "inf".
std::string to_csv(const Table& table);

/// CSV with the columns of the nccl_perf.txt of AIConfigurator's collector: latency in ms,
/// message_size in elements. @throws input::InputError for collectives and types that it lacks, and
/// for several rows with one key
std::string to_nccl_perf(const Table& table);

}  // namespace equarx::predict
