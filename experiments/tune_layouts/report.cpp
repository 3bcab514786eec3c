#include "experiments/tune_layouts/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/step_json.hpp"

namespace equarx::tune_layouts {
namespace {

using units::bytes_text;
using units::time_text;

/// Rows of the table; all layouts are in the JSON.
constexpr std::size_t kRows = 10;
constexpr double kPercent = 100.0;

// --- JSON

input::Json trial_json(const TuneResult& result, const Trial& trial) {
  input::Json json = {{"label", layout_text(result.config, trial.layout)},
                      {"time_s", trial.time_s},
                      {"speedup", result.own.time_s / trial.time_s},
                      {"memory_bytes", trial.memory_bytes},
                      {"bubble", trial.bubble},
                      {"exposed_s", trial.exposed_s}};
  json["axes"] = input::Json::object();
  for (const steps::MeshAxis& axis : mesh_axes(trial.layout)) json["axes"][axis.name] = axis.length;
  json["training"] = with_layout(*result.json, result.config, trial.layout)["step"]["training"];
  json["bytes"] = input::Json::array();
  for (const auto& [over, bytes] : trial.bytes)
    json["bytes"].push_back({{"over", over}, {"sent_bytes", bytes}});
  return json;
}

input::Json runners_up_json(const TuneResult& result) {
  input::Json list = input::Json::array();
  for (const RunnerUp& other : result.runners_up) {
    input::Json json = trial_json(result, other.trial);
    json["axis"] = other.axis;
    list.push_back(std::move(json));
  }
  return list;
}

// --- Tables

output::TableRow row_of(const TuneResult& result, const std::string& number, const Trial& trial) {
  return {fmt::format("{}  {}", number, layout_text(result.config, trial.layout)),
          time_text(trial.time_s),
          fmt::format("{:.3f}x", result.own.time_s / trial.time_s),
          bytes_text(trial.memory_bytes),
          fmt::format("{:.1f} %", kPercent * trial.bubble),
          time_text(trial.exposed_s)};
}

/// The fastest layouts by number, and the configuration's own.
std::vector<std::pair<std::string, const Trial*>> shown(const TuneResult& result) {
  std::vector<std::pair<std::string, const Trial*>> rows;
  for (std::size_t i = 0; i < std::min(kRows, result.trials.size()); ++i)
    rows.emplace_back(fmt::format("{:>2}", i + 1), &result.trials[i]);
  rows.emplace_back(" -", &result.own);
  return rows;
}

std::string ranking(const TuneResult& result) {
  std::vector<output::TableRow> rows = {
      {" #  layout", "time", "speedup", "HBM", "bubble", "exposed"}};
  for (const auto& [number, trial] : shown(result)) rows.push_back(row_of(result, number, *trial));
  return output::aligned_table(rows);
}

std::string traffic_table(const TuneResult& result) {
  std::set<std::string> axes;
  for (const auto& [number, trial] : shown(result))
    for (const auto& [over, bytes] : trial->bytes) axes.insert(over);
  if (axes.empty()) return "";
  std::vector<output::TableRow> rows = {{" #  bytes that a chip sends over"}};
  for (const std::string& over : axes) rows.front().push_back(over);
  for (const auto& [number, trial] : shown(result)) {
    output::TableRow& row = rows.emplace_back(output::TableRow{number});
    for (const std::string& over : axes) {
      const auto found = trial->bytes.find(over);
      row.push_back(found == trial->bytes.end() ? "-" : bytes_text(found->second));
    }
  }
  return "\n" + output::aligned_table(rows);
}

/// "tensor 2.0x": traffic that differs by more than a tenth.
std::string changed_bytes(const Trial& best, const Trial& other) {
  constexpr double kSame = 0.1;
  std::string text;
  for (const auto& [over, bytes] : other.bytes) {
    const auto found = best.bytes.find(over);
    if (found == best.bytes.end())
      text += fmt::format(", {} over {}", bytes_text(bytes), over);
    else if (std::abs(bytes / found->second - 1.0) > kSame)
      text += fmt::format(", {:.2g}x the bytes over {}", bytes / found->second, over);
  }
  for (const auto& [over, bytes] : best.bytes)
    if (!other.bytes.contains(over)) text += fmt::format(", none over {}", over);
  return text;
}

std::string reasons(const TuneResult& result) {
  const Trial& best = result.trials.front();
  std::string text;
  for (const RunnerUp& other : result.runners_up) {
    const Trial& trial = other.trial;
    const std::size_t axis = axis_index(other.axis);
    text += fmt::format("  {}{}: {:+.1f} %{}\n    bubble {:.1f} %, exposed {}: {}\n",
                        kLayoutAxes[axis].abbreviation, trial.layout.lengths[axis],
                        kPercent * (trial.time_s / best.time_s - 1.0), changed_bytes(best, trial),
                        kPercent * trial.bubble, time_text(trial.exposed_s),
                        layout_text(result.config, trial.layout));
  }
  if (text.empty()) return "";
  return "\n  The fastest simulated ones with another length of an axis, against the best:\n" +
         text;
}

std::string counts_note(const TuneResult& result) {
  std::string text = fmt::format("\n  {} layouts: {} do not fit into {}", result.candidates,
                                 result.do_not_fit, bytes_text(result.hbm_bytes()));
  if (result.do_not_fit > 0)
    text += fmt::format(" (the nearest needs {})", bytes_text(result.least_unfit_bytes));
  text += fmt::format(", {} excluded by a bound of their time, {} simulated", result.by_bound,
                      result.trials.size());
  if (result.cannot_run > 0)
    text += fmt::format(", {} cannot run, the first as {}", result.cannot_run, result.obstacle);
  text += ".\n";
  if (!result.finished)
    text +=
        fmt::format("  INCOMPLETE: {} not tried when the budget ended; a faster one may exist.\n",
                    result.not_tried);
  if (result.own.memory_bytes > result.hbm_bytes())
    text += fmt::format("  The configuration's own layout does not fit: {}.\n",
                        bytes_text(result.own.memory_bytes));
  return text;
}

}  // namespace

input::Json best_config(const TuneResult& result) {
  return with_layout(*result.json, result.config, result.trials.front().layout);
}

input::Json to_json(const TuneResult& result) {
  const input::Json resolved = config::to_json(result.config);
  input::Json json = {{"program", "equarx-sim"},
                      {"version", output::version()},
                      {"config_hash", output::config_hash(resolved)},
                      {"config", resolved},
                      {"hbm_bytes", result.hbm_bytes()},
                      {"exhaustive", result.options.exhaustive},
                      {"budget_s", input::or_null(result.options.budget_s)},
                      {"finished", result.finished},
                      {"candidates", result.candidates},
                      {"do_not_fit", result.do_not_fit},
                      {"least_unfit_bytes", result.least_unfit_bytes},
                      {"by_bound", result.by_bound},
                      {"not_tried", result.not_tried},
                      {"cannot_run", result.cannot_run},
                      {"obstacle", result.obstacle},
                      {"own", trial_json(result, result.own)},
                      {"runners_up", runners_up_json(result)},
                      {"best_config", best_config(result)}};
  json["layouts"] = input::Json::array();
  for (const Trial& trial : result.trials) json["layouts"].push_back(trial_json(result, trial));
  return json;
}

std::string to_table(const TuneResult& result) {
  return fmt::format(
             "Layouts of a training step of {} on {} x {}, with unquantized collectives\n\n",
             result.config.training->training.model.name, result.config.mesh.chips(),
             result.config.machine.chip.name) +
         ranking(result) + traffic_table(result) +
         "\n  -: the configuration's own. exposed: collectives without concurrent compute. ZeRO-1: "
         "distributed optimizer.\n" +
         reasons(result) + counts_note(result);
}

}  // namespace equarx::tune_layouts
