#include "importers/common/audit_report.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"

namespace equarx::imports {
namespace {

using units::bytes_text;
using units::time_text;

constexpr std::size_t kMaxGroup = 40;
constexpr std::size_t kMaxOpName = 80;

/// Breaks a text at spaces; each line begins with `indent` spaces, after `label` on the first.
std::string wrapped(const std::string& label, const std::string& text, std::size_t indent) {
  std::string lines;
  std::string line = std::string(indent, ' ') + label;
  const std::size_t begin = line.size();
  bool is_empty = true;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (!is_empty && line.size() + 1 + word.size() > output::kTableWidth) {
      lines += line + '\n';
      line.assign(begin, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  return lines + line + '\n';
}

std::string names_of(const AuditFinding& finding) {
  std::string text = output::shortened(finding.ops.front().group, kMaxGroup);
  if (finding.ops.size() > 1) text += fmt::format(" and {} more", finding.ops.size() - 1);
  return text;
}

double times_of(const AuditFinding& finding) {
  double times = 0.0;
  for (const AuditedOp& op : finding.ops) times += op.times;
  return times;
}

double total_bytes(const AuditFinding& finding) {
  double bytes = 0.0;
  for (const AuditedOp& op : finding.ops) bytes += op.bytes * op.times;
  return bytes;
}

/// "8.000 MiB", or "2.000 to 8.000 MiB" if the collectives of a finding differ.
std::string bytes_each(const AuditFinding& finding) {
  const auto [least, most] = std::ranges::minmax_element(finding.ops, {}, &AuditedOp::bytes);
  if (least->bytes == most->bytes) return bytes_text(least->bytes);
  return output::range_text(bytes_text(least->bytes), bytes_text(most->bytes));
}

std::string saving(const AuditFinding& finding, double step_s) {
  if (!finding.simulated)
    return finding.saved_s > 0.0 ? fmt::format("hides up to {}", time_text(finding.saved_s))
                                 : "no saving estimated";
  const std::string steps = fmt::format("step {} -> {}", time_text(step_s),
                                        time_text(std::max(step_s - finding.saved_s, 0.0)));
  if (finding.saved_s == 0.0) return "saves no time";
  return fmt::format("{} {} ({})", finding.saved_s < 0.0 ? "costs" : "saves",
                     time_text(std::abs(finding.saved_s)), steps);
}

/// ", 32.00 MiB too many" or ", 32.00 MiB more with the remedy"; empty if there is no difference.
std::string excess_text(const AuditFinding& finding) {
  if (finding.excess_bytes == 0.0) return {};
  return fmt::format(", {} {}", bytes_text(std::abs(finding.excess_bytes)),
                     finding.excess_bytes > 0.0 ? "too many" : "more with the remedy");
}

std::string numbers_of(const AuditFinding& finding) {
  return fmt::format("{} ({}, {}): {} each, {:.0f} x, {} in total{}; isolated {}, exposed {}",
                     names_of(finding), finding.kind, finding.type, bytes_each(finding),
                     times_of(finding), bytes_text(total_bytes(finding)), excess_text(finding),
                     time_text(finding.isolated_s), time_text(finding.exposed_s));
}

std::string place_of(const AuditFinding& finding) {
  const bool has_others = finding.is_of_compiler && finding.ops.size() > 1;
  const char* others = has_others ? " and other places" : "";
  if (finding.op_name.empty()) return finding.place + others;
  return fmt::format("{} ({}){}", output::shortened(finding.op_name, kMaxOpName), finding.place,
                     others);
}

std::string text_of(std::size_t number, const AuditFinding& finding, double step_s) {
  constexpr std::size_t kIndent = 5;
  std::string text = fmt::format("  {:<2} {}: {}; {}\n", number, name(finding.rule),
                                 title(finding.rule), saving(finding, step_s));
  text += wrapped("", numbers_of(finding), kIndent);
  text += wrapped("At:  ", place_of(finding), kIndent);
  text += wrapped("Why: ", finding.why, kIndent);
  text += wrapped("Do:  ", finding.remedy, kIndent);
  if (finding.memory_bytes > 0.0)
    text += wrapped("Takes: ", fmt::format("{} of HBM per chip.", bytes_text(finding.memory_bytes)),
                    kIndent);
  return text + '\n';
}

std::string rules_text() {
  std::vector<std::string_view> names;
  for (const AuditRule rule : kAuditRules) names.push_back(name(rule));
  std::string text;
  for (const std::string_view of : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", of);
  return text;
}

input::Json json_of(const AuditFinding& finding, double step_s) {
  input::Json json = {{"rule", name(finding.rule)},
                      {"kind", finding.kind},
                      {"type", finding.type},
                      {"op_name", finding.op_name},
                      {"place", finding.place},
                      {"total_bytes", total_bytes(finding)},
                      {"excess_bytes", finding.excess_bytes},
                      {"memory_bytes", finding.memory_bytes},
                      {"isolated_s", finding.isolated_s},
                      {"exposed_s", finding.exposed_s},
                      {"saved_s", finding.saved_s},
                      {"simulated", finding.simulated},
                      {"time_s", nullptr},
                      {"why", finding.why},
                      {"remedy", finding.remedy}};
  if (finding.simulated) json["time_s"] = std::max(step_s - finding.saved_s, 0.0);
  json["collectives"] = input::Json::array();
  for (const AuditedOp& op : finding.ops)
    json["collectives"].push_back({{"group", op.group}, {"bytes", op.bytes}, {"times", op.times}});
  return json;
}

}  // namespace

std::string to_text(const AuditResult& audit, const ImportedProgram& program) {
  std::string text = fmt::format("\nAudit of {}: ", program.name);
  if (audit.findings.empty())
    text += "no findings.\n";
  else
    text += fmt::format("{} finding{}, largest saving first; each remedy is applied alone\n\n",
                        audit.findings.size(), audit.findings.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < audit.findings.size(); ++i)
    text += text_of(i + 1, audit.findings[i], audit.step_s);
  text += wrapped("", "Rules: " + rules_text() + ".", 2);
  for (const std::string& note : audit.notes) text += wrapped("Note: ", note, 2);
  return text;
}

input::Json to_json(const AuditResult& audit) {
  input::Json json = {{"rules", input::Json::array()},
                      {"step_s", audit.step_s},
                      {"findings", input::Json::array()},
                      {"notes", audit.notes}};
  for (const AuditRule rule : kAuditRules) json["rules"].push_back(name(rule));
  for (const AuditFinding& finding : audit.findings)
    json["findings"].push_back(json_of(finding, audit.step_s));
  return json;
}

}  // namespace equarx::imports
