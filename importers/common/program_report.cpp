#include "importers/common/program_report.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"

namespace equarx::imports {
namespace {

using units::bytes_text;
using units::time_text;

constexpr std::size_t kMaxRows = 40;
constexpr std::size_t kMaxName = 40;

/// Results of collectives by name, for each variant of a result, which must outlive this.
class Groups {
 public:
  explicit Groups(const step::StepResult& result) {
    for (const step::VariantResult& variant : result.runs) {
      auto& groups = variants_.emplace_back();
      for (const step::GroupResult& group : variant.groups) groups.try_emplace(group.name, &group);
    }
  }

  /// Results of the tasks of a collective in a variant; nullptr if it is not simulated.
  const step::GroupResult* of(std::size_t variant, const ImportedOp& op) const {
    const auto found = variants_[variant].find(op.group);
    return found == variants_[variant].end() ? nullptr : found->second;
  }

 private:
  std::vector<std::unordered_map<std::string_view, const step::GroupResult*>> variants_;
};

/// Simulated collectives, those most exposed in the first variant first.
std::vector<const ImportedOp*> most_exposed_first(const ImportedProgram& program,
                                                  const Groups& groups) {
  std::vector<std::pair<double, const ImportedOp*>> exposed;
  for (const ImportedOp& op : program.ops) {
    if (!op.skip_reason.empty()) continue;
    const step::GroupResult* group = groups.of(0, op);
    exposed.emplace_back(group == nullptr ? 0.0 : group->exposed_s, &op);
  }
  std::ranges::stable_sort(exposed, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<const ImportedOp*> ops;
  for (const auto& [exposed_s, op] : exposed) ops.push_back(op);
  return ops;
}

/// Two rows: the label of each variant, and the names of the columns.
std::vector<output::TableRow> header(const step::StepResult& result) {
  output::TableRow names = {"collective", "kind", "bytes", "type", "group", "count"};
  output::TableRow labels(names.size());
  for (const step::VariantResult& variant : result.runs) {
    labels.insert(labels.end(), {"", variant.label});
    names.insert(names.end(), {"isolated", "exposed"});
  }
  return {labels, names};
}

output::TableRow row_of(const ImportedOp& op, const step::StepResult& result,
                        const Groups& groups) {
  output::TableRow row = {op.group,
                          op.kind,
                          bytes_text(op.bytes),
                          op.type,
                          fmt::format("{} ({})", op.axes, op.chips),
                          fmt::format("{:.0f}", op.times)};
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const step::GroupResult* group = groups.of(i, op);
    const bool is_shown = group != nullptr && (i == 0 || op.quantized);
    row.push_back(is_shown ? time_text(group->isolated_s) : "-");
    row.push_back(group != nullptr ? time_text(group->exposed_s) : "-");
  }
  return row;
}

/// Totals of all collectives; exposed is the time of the step without compute.
output::TableRow sum_row(const std::vector<const ImportedOp*>& ops, const step::StepResult& result,
                         const Groups& groups) {
  double bytes = 0.0;
  double times = 0.0;
  for (const ImportedOp* op : ops) {
    bytes += op->bytes * op->times;
    times += op->times;
  }
  output::TableRow row = {"total", "", bytes_text(bytes), "", "", fmt::format("{:.0f}", times)};
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    double isolated_s = 0.0;
    for (const ImportedOp* op : ops)
      if (const step::GroupResult* group = groups.of(i, *op)) isolated_s += group->isolated_s;
    row.push_back(time_text(isolated_s));
    row.push_back(time_text(result.runs[i].exposed_s()));
  }
  return row;
}

/// Lines for collectives that are not simulated, by reason.
std::string not_simulated(const ImportedProgram& program) {
  struct Skipped {
    std::size_t ops = 0;
    double times = 0.0;
    double bytes = 0.0;
    std::string first;
  };
  std::map<std::pair<std::string, std::string>, Skipped> by_reason;  // kind and reason
  for (const ImportedOp& op : program.ops) {
    if (op.skip_reason.empty()) continue;
    Skipped& skipped = by_reason[{op.kind, op.skip_reason}];
    if (skipped.ops++ == 0) skipped.first = op.group;
    skipped.times += op.times;
    skipped.bytes += op.times * op.bytes;
  }
  std::string text;
  for (const auto& [key, skipped] : by_reason)
    text += fmt::format("  Not simulated: {} {}{} ({:.0f} x, {} in total): {}.\n", key.first,
                        output::shortened(skipped.first, kMaxName),
                        skipped.ops > 1 ? fmt::format(" and {} more", skipped.ops - 1) : "",
                        skipped.times, bytes_text(skipped.bytes), key.second);
  return text;
}

/// Operations of the source program that the first collectives come from.
std::string sources_text(const std::vector<const ImportedOp*>& ops) {
  std::size_t width = 0;
  for (const ImportedOp* op : ops)
    if (!op->op_name.empty()) width = std::max(width, std::min(op->group.size(), kMaxName));
  if (width == 0) return {};
  constexpr std::size_t kMargins = 6;
  std::string text = "  Source operations:\n";
  for (const ImportedOp* op : ops)
    if (!op->op_name.empty())
      text += fmt::format("    {:<{}}  {}\n", output::shortened(op->group, kMaxName), width,
                          output::shortened(op->op_name, output::kTableWidth - kMargins - width));
  return text + '\n';
}

std::string notes_text(const ImportedProgram& program) {
  std::string text = not_simulated(program);
  for (const auto& [note, count] : program.notes)
    text += fmt::format("  Note: {} ({} x).\n", note, count);
  return text;
}

input::Json op_json(const ImportedOp& op, const step::StepResult& result, const Groups& groups) {
  input::Json json = {
      {"group", op.group},        {"op_name", op.op_name}, {"kind", op.kind},
      {"type", op.type},          {"bytes", op.bytes},     {"chips", op.chips},
      {"axes", op.axes},          {"times", op.times},     {"obstacle", op.skip_reason},
      {"quantized", op.quantized}};
  json["variants"] = input::Json::array();
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    if (const step::GroupResult* group = groups.of(i, op))
      json["variants"].push_back({{"label", result.runs[i].label},
                                  {"isolated_s", group->isolated_s},
                                  {"total_s", group->total_s},
                                  {"exposed_s", group->exposed_s},
                                  {"critical_s", group->critical_s}});
  return json;
}

}  // namespace

std::string summary_text(const ImportedProgram& program) {
  const ProgramTotals& totals = program.totals;
  double times = 0.0;
  for (const ImportedOp& op : program.ops) times += op.times;
  std::string text = fmt::format(
      "{}: {}, for {} {}\n"
      "  Per chip{}: {:.4g} GEMM FLOPs, {:.4g} vector operations, {} of HBM traffic, {} {}\n",
      program.name, program.size, program.devices, program.devices == 1 ? "chip" : "chips",
      totals.differ ? ", at most" : "", totals.flops, totals.vector_ops,
      bytes_text(totals.hbm_bytes), bytes_text(totals.collective_bytes),
      totals.differ ? "of communication" : fmt::format("in {:.0f} collectives", times));
  if (totals.to_host_bytes + totals.from_host_bytes > 0.0)
    text += fmt::format("  Host transfers: {} to the host, {} from it\n",
                        bytes_text(totals.to_host_bytes), bytes_text(totals.from_host_bytes));
  return text;
}

std::string to_table(const ImportedProgram& program, const step::StepResult& result) {
  const Groups groups(result);
  std::vector<const ImportedOp*> ops = most_exposed_first(program, groups);
  std::string text =
      summary_text(program) + '\n' + result::title_text(result) + result::overview_table(result);
  if (!ops.empty()) {
    const output::TableRow sums = sum_row(ops, result, groups);
    const std::size_t omitted = ops.size() - std::min(ops.size(), kMaxRows);
    ops.resize(ops.size() - omitted);
    std::vector<output::TableRow> rows = header(result);
    for (const ImportedOp* op : ops) rows.push_back(row_of(*op, result, groups));
    rows.push_back(sums);
    output::shorten_names(rows);
    text += output::aligned_table(rows) + '\n';
    if (omitted > 0)
      text +=
          fmt::format("  {} more collectives with less exposed time; --json lists all.\n", omitted);
    text += sources_text(ops);
    text +=
        "  Isolated: sum of times when run alone. Exposed: wall time without concurrent compute.\n"
        "  Columns of a format: the step with all collectives quantized that have an isolated time "
        "there.\n";
  }
  return text + notes_text(program);
}

input::Json to_json(const ImportedProgram& program, const step::StepResult& result) {
  const ProgramTotals& totals = program.totals;
  input::Json json = {{"program", "equarx-sim"}, {"version", output::version()}};
  json["module"] = {{"name", program.name},
                    {"chips", program.devices},
                    {"flops", totals.flops},
                    {"vector_ops", totals.vector_ops},
                    {"hbm_bytes", totals.hbm_bytes},
                    {"to_host_bytes", totals.to_host_bytes},
                    {"from_host_bytes", totals.from_host_bytes},
                    {"collective_bytes", totals.collective_bytes}};
  for (const auto& [what, count] : program.counts) json["module"][what] = count;
  json["variants"] = input::Json::array();
  for (const step::VariantResult& variant : result.runs)
    json["variants"].push_back(result::numbers_json(variant));
  json["collectives"] = input::Json::array();
  const Groups groups(result);
  for (const ImportedOp& op : program.ops)
    json["collectives"].push_back(op_json(op, result, groups));
  json["notes"] = input::Json::object();
  for (const auto& [note, count] : program.notes) json["notes"][note] = count;
  return json;
}

}  // namespace equarx::imports
