#include "experiments/imports/program_report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/output/table.hpp"
#include "experiments/step/report.hpp"
#include "models/units/quantity.hpp"

namespace equarx::imports {
namespace {

using units::bytes_text;
using units::time_text;

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kLongestName = 48;

/// The results of a collective's tasks in a variant; none if it is not simulated.
const step::GroupResult* group_of(const step::VariantResult& variant, const std::string& name) {
  const auto found = std::ranges::find(variant.groups, name, &step::GroupResult::name);
  return found == variant.groups.end() ? nullptr : &*found;
}

double exposed_s(const step::VariantResult& variant, const ImportedSite& site) {
  const step::GroupResult* group = group_of(variant, site.group);
  return group == nullptr ? 0.0 : group->exposed_s;
}

/// The end of a long name, which says more than its beginning.
std::string shortened(const std::string& name) {
  return name.size() <= kLongestName ? name : "..." + name.substr(name.size() - kLongestName + 3);
}

std::vector<const ImportedSite*> most_exposed_first(const ImportedProgram& program,
                                                    const step::VariantResult& plain) {
  std::vector<const ImportedSite*> sites;
  for (const ImportedSite& site : program.sites)
    if (site.obstacle.empty()) sites.push_back(&site);
  std::ranges::stable_sort(sites, std::greater<>(),
                           [&](const ImportedSite* site) { return exposed_s(plain, *site); });
  return sites;
}

output::TableRow header(const step::StepResult& result) {
  output::TableRow row = {"collective", "kind", "bytes", "type", "over", "times"};
  for (const step::VariantResult& variant : result.variants) {
    row.push_back(variant.label + ": alone");
    row.push_back("exposed");
  }
  row.push_back("of");
  return row;
}

output::TableRow row_of(const ImportedSite& site, const step::StepResult& result) {
  output::TableRow row = {site.group,
                          site.kind,
                          bytes_text(site.bytes),
                          site.type,
                          fmt::format("{} ({})", site.axes, site.chips),
                          fmt::format("{:.0f}", site.times)};
  for (std::size_t i = 0; i < result.variants.size(); ++i) {
    const step::GroupResult* group = group_of(result.variants[i], site.group);
    const bool said = group != nullptr && (i == 0 || site.quantized);
    row.push_back(said ? time_text(group->alone_s) : "-");
    row.push_back(group != nullptr ? time_text(group->exposed_s) : "-");
  }
  row.push_back(shortened(site.op_name));
  return row;
}

/// Of all collectives; exposed is when nothing is computed, by whichever of them.
output::TableRow sum_row(const std::vector<const ImportedSite*>& sites,
                         const step::StepResult& result) {
  double bytes = 0.0;
  double times = 0.0;
  for (const ImportedSite* site : sites) {
    bytes += site->bytes * site->times;
    times += site->times;
  }
  output::TableRow row = {"all", "", bytes_text(bytes), "", "", fmt::format("{:.0f}", times)};
  for (const step::VariantResult& variant : result.variants) {
    double alone = 0.0;
    for (const ImportedSite* site : sites)
      if (const step::GroupResult* group = group_of(variant, site->group)) alone += group->alone_s;
    row.push_back(time_text(alone));
    row.push_back(time_text(variant.exposed_s()));
  }
  row.push_back("");
  return row;
}

/// By reason: how many, how often, how much.
std::string not_simulated(const ImportedProgram& program) {
  struct Left {
    std::size_t sites = 0;
    double times = 0.0;
    double bytes = 0.0;
    std::string first;
  };
  std::map<std::string, Left> by_reason;
  for (const ImportedSite& site : program.sites) {
    if (site.obstacle.empty()) continue;
    Left& left = by_reason[fmt::format("{} {}", site.kind, site.obstacle)];
    if (left.sites++ == 0) left.first = site.group;
    left.times += site.times;
    left.bytes += site.times * site.bytes;
  }
  std::string text;
  for (const auto& [reason, left] : by_reason)
    text +=
        fmt::format("  Not simulated: {} ({}{}), {:.0f} times, {} in all.\n", reason, left.first,
                    left.sites > 1 ? fmt::format(" and {} more", left.sites - 1) : "", left.times,
                    bytes_text(left.bytes));
  return text;
}

std::string notes_text(const ImportedProgram& program) {
  std::string text = not_simulated(program);
  for (const auto& [note, count] : program.notes)
    text += fmt::format("  Note: {} ({} x).\n", note, count);
  return text;
}

input::Json site_json(const ImportedSite& site, const step::StepResult& result) {
  input::Json json = {{"group", site.group},       {"op_name", site.op_name},
                      {"kind", site.kind},         {"type", site.type},
                      {"bytes", site.bytes},       {"chips", site.chips},
                      {"axes", site.axes},         {"times", site.times},
                      {"obstacle", site.obstacle}, {"quantized", site.quantized}};
  json["variants"] = input::Json::array();
  for (const step::VariantResult& variant : result.variants)
    if (const step::GroupResult* group = group_of(variant, site.group))
      json["variants"].push_back({{"label", variant.label},
                                  {"alone_s", group->alone_s},
                                  {"total_s", group->total_s},
                                  {"exposed_s", group->exposed_s},
                                  {"critical_s", group->critical_s}});
  return json;
}

}  // namespace

std::string summary_text(const ImportedProgram& program) {
  const ProgramTotals& totals = program.totals;
  std::string text = fmt::format(
      "{}: {}, for {} chips\n"
      "  Each chip: {:.4g} FLOPs of matrix products, {:.4g} vector operations, {} of HBM, {} in "
      "{:.0f} collectives\n",
      program.name, program.size, program.devices, totals.flops, totals.vector_ops,
      bytes_text(totals.hbm_bytes), bytes_text(totals.collective_bytes), [&] {
        double times = 0.0;
        for (const ImportedSite& site : program.sites) times += site.times;
        return times;
      }());
  if (totals.to_host_bytes + totals.from_host_bytes > 0.0)
    text += fmt::format("  To the host: {}, from it: {}\n", bytes_text(totals.to_host_bytes),
                        bytes_text(totals.from_host_bytes));
  return text;
}

std::string to_table(const ImportedProgram& program, const step::StepResult& result) {
  const step::VariantResult& plain = result.variants.front();
  const std::vector<const ImportedSite*> sites = most_exposed_first(program, plain);
  std::string text =
      summary_text(program) + '\n' + step::title_text(result) + step::overview_table(result);
  if (!sites.empty()) {
    std::vector<output::TableRow> rows = {header(result)};
    for (std::size_t i = 0; i < std::min(sites.size(), kMostRows); ++i)
      rows.push_back(row_of(*sites[i], result));
    rows.push_back(sum_row(sites, result));
    text += output::aligned_table(rows) + '\n';
    if (sites.size() > kMostRows)
      text += fmt::format("  {} more collectives, exposed for less; --json has all.\n",
                          sites.size() - kMostRows);
    text +=
        "  Alone: all times together, with nothing beside them. Exposed: of the step's time, while "
        "nothing is computed.\n"
        "  A format's columns are of the step with all collectives in it that have \"alone\" "
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
  for (const step::VariantResult& variant : result.variants)
    json["variants"].push_back(step::numbers_json(variant));
  json["collectives"] = input::Json::array();
  for (const ImportedSite& site : program.sites)
    json["collectives"].push_back(site_json(site, result));
  json["notes"] = input::Json::object();
  for (const auto& [note, count] : program.notes) json["notes"][note] = count;
  return json;
}

}  // namespace equarx::imports
