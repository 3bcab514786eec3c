#include "importers/profile/report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/step.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::imports {
namespace {

using profile::Recorded;
using units::bytes_text;
using units::time_text;

constexpr std::size_t kMostRows = 40;

/// The isolated run of a row in a variant; nullptr if it is not simulated.
const run::RunResult* isolated_run(const step::VariantResult& variant, const ImportedOp& op) {
  const auto found =
      std::ranges::find(variant.collectives, op.group, &step::CollectiveResult::group);
  return found == variant.collectives.end() ? nullptr : &found->run;
}

/// Isolated time of a row in a variant, with all groups at once; std::nullopt if it is not
/// simulated.
std::optional<double> isolated_time(const step::VariantResult& variant, const ImportedOp& op) {
  const auto found = std::ranges::find(variant.groups, op.group, &step::GroupResult::name);
  return found == variant.groups.end() ? std::nullopt : std::optional(found->isolated_s);
}

/// Times of one row.
struct Simulated {
  std::optional<double> plain_s;                 ///< unquantized
  std::optional<double> bus_bandwidth;           ///< recorded, B/s
  std::vector<std::optional<double>> formats_s;  ///< by format variant, if quantized
};

Simulated simulated(const Recorded& row, const ImportedOp& op,
                    const std::optional<step::StepResult>& result) {
  Simulated made;
  if (!result) return made;
  const step::VariantResult& plain = result->runs.front();
  made.plain_s = isolated_time(plain, op);
  if (const run::RunResult* run = isolated_run(plain, op))
    made.bus_bandwidth = run->bus_bytes / row.median_s;
  for (std::size_t i = 1; i < result->runs.size(); ++i)
    made.formats_s.push_back(op.quantized ? isolated_time(result->runs[i], op) : std::nullopt);
  return made;
}

std::string time_or_dash(const std::optional<double>& seconds) {
  return seconds ? time_text(*seconds) : "-";
}

std::string gigabytes_text(const std::optional<double>& rate) {
  constexpr double kGiga = 1e9;
  return rate ? fmt::format("{:.4g}", *rate / kGiga) : "-";
}

std::string machine_text(const config::StepConfig& config) {
  return fmt::format("Simulated on {} x {}, {}\n\n", config.mesh.chips(), config.machine.chip.name,
                     config::topology_text(config.machine.topology));
}

std::string ratio_text(const std::optional<double>& simulated_s, double recorded_s) {
  return simulated_s ? fmt::format("{:.3f}", *simulated_s / recorded_s) : "-";
}

output::TableRow head(const std::optional<step::StepResult>& result) {
  output::TableRow names = {"collective", "bytes", "type", "group",     "count", "recorded",
                            "min",        "max",   "GB/s", "simulated", "ratio"};
  if (result)
    for (std::size_t i = 1; i < result->runs.size(); ++i) names.push_back(result->runs[i].label);
  return names;
}

output::TableRow table_row(const Recorded& row, const ImportedOp& op,
                           const std::optional<step::StepResult>& result) {
  const Simulated made = simulated(row, op, result);
  const std::string group =
      op.axes.empty() ? fmt::format("({})", op.chips) : fmt::format("{} ({})", op.axes, op.chips);
  output::TableRow cells = {op.kind,
                            op.bytes > 0.0 ? bytes_text(op.bytes) : "-",
                            op.type.empty() ? "-" : op.type,
                            op.chips == 0 ? "-" : group,
                            fmt::format("{}", row.times),
                            time_text(row.median_s),
                            time_text(row.min_s),
                            time_text(row.max_s),
                            gigabytes_text(made.bus_bandwidth),
                            time_or_dash(made.plain_s),
                            ratio_text(made.plain_s, row.median_s)};
  for (const std::optional<double>& seconds : made.formats_s)
    cells.push_back(time_or_dash(seconds));
  return cells;
}

/// Totals of the simulated rows: counts times medians, and times simulated times.
struct Totals {
  std::uint64_t times = 0;
  double bytes = 0.0;
  double recorded_s = 0.0;
  std::vector<double> simulated_s = {};  ///< by variant; unquantized rows as in the first
};

Totals totals_of_rows(const ImportedProfile& profile, const step::StepResult& result) {
  Totals totals{.simulated_s = std::vector<double>(result.runs.size(), 0.0)};
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const Recorded& row = profile.rows[i];
    const ImportedOp& op = profile.program.ops[i];
    const Simulated made = simulated(row, op, result);
    if (!made.plain_s) continue;
    const auto times = static_cast<double>(row.times);
    totals.times += row.times;
    totals.bytes += times * op.bytes;
    totals.recorded_s += times * row.median_s;
    totals.simulated_s.front() += times * *made.plain_s;
    for (std::size_t variant = 1; variant < totals.simulated_s.size(); ++variant)
      totals.simulated_s[variant] += times * made.formats_s[variant - 1].value_or(*made.plain_s);
  }
  return totals;
}

output::TableRow total_row(const ImportedProfile& profile, const step::StepResult& result) {
  const Totals totals = totals_of_rows(profile, result);
  output::TableRow cells = {"total",
                            bytes_text(totals.bytes),
                            "",
                            "",
                            fmt::format("{}", totals.times),
                            time_text(totals.recorded_s),
                            "",
                            "",
                            "",
                            time_text(totals.simulated_s.front()),
                            ratio_text(totals.simulated_s.front(), totals.recorded_s)};
  for (std::size_t variant = 1; variant < totals.simulated_s.size(); ++variant)
    cells.push_back(time_text(totals.simulated_s[variant]));
  return cells;
}

std::string contents_text(const ImportedProfile& profile) {
  const profile::Communication& of = profile.communication;
  std::uint64_t times = 0;
  for (const Recorded& row : profile.rows) times += row.times;
  return fmt::format(
      "{}: {} collectives of {} {} recorded on {} of {} chips{}\n"
      "  Per recorded chip: {} of collectives in {}; {} ({}) exposed, without other kernels\n",
      profile.program.name, times, profile.rows.size(), profile.rows.size() == 1 ? "kind" : "kinds",
      profile.devices, profile.program.devices,
      profile.chip.empty() ? "" : fmt::format(" ({})", profile.chip), time_text(of.running_s),
      time_text(of.span_s), time_text(of.exposed_s),
      output::percent_text(of.running_s > 0.0 ? of.exposed_s / of.running_s : 0.0, 3));
}

/// Why rows are not simulated, with their executions.
std::string obstacles_text(const ImportedProfile& profile) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> times;  // by kind and reason
  for (const ImportedOp& op : profile.program.ops)
    if (!op.skip_reason.empty())
      times[{op.kind, op.skip_reason}] += static_cast<std::uint64_t>(op.times);
  std::string text;
  for (const auto& [key, count] : times)
    text += fmt::format("  Not simulated: {} ({} x): {}.\n", key.first, count, key.second);
  return text;
}

std::string skew_text(const ImportedProfile& profile) {
  return profile.devices > 1
             ? "  Recorded: the shortest time of each execution on the recorded chips, which still "
               "includes waiting\n  for chips that are not recorded; median, minimum and maximum "
               "over executions.\n"
             : "  Warning: times recorded on one chip include waiting for the others. Recorded is "
               "the median over executions;\n  the minimum, or the profiles of more ranks, are "
               "nearer to the transfer.\n";
}

std::string notes_of(const ImportedProfile& profile) {
  std::string text = obstacles_text(profile);
  for (const auto& [note, count] : profile.program.notes)
    text += fmt::format("  Note: {} ({} x).\n", note, count);
  return text;
}

input::Json row_json(const Recorded& row, const ImportedOp& op,
                     const std::optional<step::StepResult>& result) {
  const Simulated made = simulated(row, op, result);
  input::Json json = {
      {"name", op.op_name},
      {"kind", op.kind},
      {"type", op.type},
      {"bytes", op.bytes},
      {"chips", op.chips},
      {"axes", op.axes},
      {"times", row.times},
      {"obstacle", op.skip_reason},
      {"quantized", op.quantized},
      {"recorded", {{"median_s", row.median_s}, {"min_s", row.min_s}, {"max_s", row.max_s}}},
      {"bus_bandwidth", input::or_null(made.bus_bandwidth)},
      {"simulated_s", input::or_null(made.plain_s)}};
  json["ratio"] = made.plain_s ? input::Json(*made.plain_s / row.median_s) : input::Json(nullptr);
  json["formats"] = input::Json::array();
  for (std::size_t i = 0; i < made.formats_s.size(); ++i)
    if (made.formats_s[i])
      json["formats"].push_back(
          {{"label", result->runs[i + 1].label}, {"time_s", *made.formats_s[i]}});
  return json;
}

}  // namespace

std::string to_table(const ImportedProfile& profile,
                     const std::optional<step::StepResult>& result) {
  std::string text = contents_text(profile) + '\n';
  if (result) text += machine_text(result->config);
  std::vector<output::TableRow> rows = {head(result)};
  const std::size_t shown = std::min(profile.rows.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i)
    rows.push_back(table_row(profile.rows[i], profile.program.ops[i], result));
  if (result) rows.push_back(total_row(profile, *result));
  const std::vector<std::string> omitted = output::fit_width(rows, {"max", "GB/s", "min"});
  text += output::aligned_table(rows) + '\n';
  if (shown < profile.rows.size())
    text += fmt::format("  {} more kinds with less recorded time; --json lists all.\n",
                        profile.rows.size() - shown);
  if (!omitted.empty())
    text +=
        fmt::format("  Columns that do not fit: {}; --json has all.\n", fmt::join(omitted, ", "));
  if (result)
    text += "  GB/s: recorded bus bandwidth, as in nccl-tests. Ratio: simulated / recorded.\n";
  return text + skew_text(profile) + notes_of(profile);
}

input::Json to_json(const ImportedProfile& profile, const std::optional<step::StepResult>& result) {
  const profile::Communication& of = profile.communication;
  input::Json json = {{"program", "equarx-sim"}, {"version", output::version()}};
  json["profile"] = {{"name", profile.program.name},
                     {"chip", profile.chip},
                     {"chips", profile.program.devices},
                     {"recorded_chips", profile.devices},
                     {"span_s", of.span_s},
                     {"communication_s", of.running_s},
                     {"exposed_s", of.exposed_s}};
  json["calibrated"] = result ? input::Json(result->runs.front().calibrated) : input::Json(nullptr);
  json["collectives"] = input::Json::array();
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    json["collectives"].push_back(row_json(profile.rows[i], profile.program.ops[i], result));
  json["notes"] = input::Json::object();
  for (const auto& [note, count] : profile.program.notes) json["notes"][note] = count;
  return json;
}

}  // namespace equarx::imports
