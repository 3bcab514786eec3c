// Measured rows with their simulated figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/accuracy/question.hpp"

namespace equarx::accuracy {

/// A measured figure and its simulation.
struct MeasuredRow {
  std::string study;
  std::string id;  ///< unique within the study
  std::string what;
  std::string origin;  ///< of the measurement: rows of one origin share systematic errors
  Question question = Question::tpu_collective;
  bool predicted = false;                           ///< nothing was fitted to it
  double measured = 0.0;                            ///< > 0, in the unit of the figure
  double simulated = 0.0;                           ///< > 0
  std::optional<double> null_model = std::nullopt;  ///< lower bound from bytes and FLOPs, > 0
  // Of the simulated machine, where the row has one.
  std::string chip = {};  ///< name of the built-in chip; or empty
  std::optional<std::uint32_t> chips = std::nullopt;
  std::optional<std::uint64_t> bytes = std::nullopt;  ///< tensor of a collective

  /// ln(simulated / measured).
  double error() const;
  /// "predicted" or "fitted".
  std::string_view role() const;
};

/// Reads {"rows": [...]}. @throws InputError for unknown keys and figures that are not above 0
std::vector<MeasuredRow> read_rows(const input::Json& json);

/// Writes {"rows": [...]}.
input::Json to_json(const std::vector<MeasuredRow>& rows);

/// Rows of this version, from configs/accuracy/rows.json.
const std::vector<MeasuredRow>& built_in_rows();

/// Rows with a question of the results of a study, the study.json that `reproduce` writes. Rows of
/// failed points are left out. `study`: name of the study. @throws InputError for other files
std::vector<MeasuredRow> rows_of_study(const input::Json& json, const std::string& study);

}  // namespace equarx::accuracy
