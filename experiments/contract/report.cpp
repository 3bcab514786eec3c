#include "experiments/contract/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/format_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/contract/promises.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::contract {
namespace {

using input::Json;
using numerics::UlpCounts;
using values::Roundings;

constexpr std::array<std::string_view, UlpCounts::kClasses> kDistances = {
    "0", "1", "2", "3 to 4", "5 to 8", "9 or more"};

/// Name of a format: of a predefined one, or of its elements.
std::string format_name(const numerics::BlockFormat& format) {
  if (format.scaled)
    for (const numerics::NamedFormat& named : numerics::named_formats())
      if (named.format.scaled && named.format.element == format.element &&
          named.format.scale == format.scale && named.format.layout == format.layout &&
          named.format.rule == format.rule && named.format.tensor_scale == format.tensor_scale)
        return std::string(named.name);
  return std::string(numerics::name(format.element));
}

std::string share_text(const UlpCounts& counts) {
  if (counts.differing() == 0) return "none";
  const double percent = 100.0 * counts.differing_share();
  return percent < 0.01 ? fmt::format("{:.1e} %", percent) : fmt::format("{:.2f} %", percent);
}

std::string nmse_text(double nmse) { return nmse == 0.0 ? "0" : fmt::format("{:.3g}", nmse); }

std::string yes_no(bool yes) { return yes ? "same" : "differ"; }

std::string ranks_text(const CollectiveContract& contract) {
  if (contract.values.ranks_identical) return "same";
  return fmt::format("{:.2f} % differ", 100.0 * static_cast<double>(contract.values.differing) /
                                            static_cast<double>(contract.values.computed_elements));
}

/// Drops columns without any entry.
void drop_empty_columns(std::vector<output::TableRow>& rows) {
  for (std::size_t column = rows.front().size(); column-- > 1;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(),
                                   [&](const output::TableRow& row) { return row[column] == "-"; });
    if (!empty) continue;
    for (output::TableRow& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::string main_table(const Contract& contract) {
  std::vector<output::TableRow> rows = {{"collective", "time", "roundings", "not exact", "NMSE",
                                         "expected", "ranks", "cuts", "sizes", "fewer ranks"}};
  for (const CollectiveContract& one : contract.collectives)
    rows.push_back({one.label, units::time_text(one.time_s), path_text(one.path),
                    share_text(one.values.ulps), nmse_text(one.values.against_exact.nmse),
                    one.expected_nmse ? nmse_text(*one.expected_nmse) : "-", ranks_text(one),
                    one.cuts == 0 ? "-" : yes_no(one.same_at_all_cuts),
                    one.sizes.empty() ? "-" : yes_no(one.same_at_all_sizes()),
                    one.fewer_ranks.empty() ? "-" : yes_no(one.same_for_all_ranks())});
  drop_empty_columns(rows);
  output::fit_width(rows, {"cuts"});
  output::shorten_names(rows);
  return output::aligned_table(rows);
}

std::string ulp_table(const Contract& contract) {
  std::vector<output::TableRow> rows = {{"ULP from the exact sum, rounded once"}};
  for (const std::string_view distance : kDistances) rows.front().emplace_back(distance);
  rows.front().emplace_back("NaN, Inf");
  rows.front().emplace_back("most");
  for (const CollectiveContract& one : contract.collectives) {
    const UlpCounts& ulps = one.values.ulps;
    output::TableRow row = {one.label};
    for (const std::uint64_t count : ulps.by_distance)
      row.push_back(count == 0 ? "-"
                               : fmt::format("{:.3g} %", 100.0 * static_cast<double>(count) /
                                                             static_cast<double>(ulps.elements)));
    row.push_back(ulps.nonfinite == 0 ? "-" : fmt::format("{}", ulps.nonfinite));
    row.push_back(fmt::format("{}", ulps.most));
    rows.push_back(std::move(row));
  }
  output::shorten_names(rows);
  return output::aligned_table(rows);
}

/// Elements that differ between collectives; columns by number, as their names are long.
std::string between_table(const Contract& contract) {
  std::vector<output::TableRow> rows = {{"elements that differ from"}};
  for (std::size_t i = 0; i < contract.collectives.size(); ++i)
    rows.front().push_back(fmt::format("[{}]", i + 1));
  for (std::size_t i = 0; i < contract.collectives.size(); ++i) {
    output::TableRow row = {fmt::format("[{}] {}", i + 1, contract.collectives[i].label)};
    for (std::size_t j = 0; j < contract.collectives.size(); ++j)
      row.push_back(i == j ? "" : share_text(contract.collectives[i].against[j]));
    rows.push_back(std::move(row));
  }
  output::shorten_names(rows);
  return output::aligned_table(rows);
}

std::string events_text(std::string_view what, const values::RangeEvents& events) {
  if (events.count == 0) return "";
  return fmt::format("; {} {}, first at element {} on rank {} ({})", events.count, what,
                     events.element, events.rank, collectives::name(events.op));
}

std::string range_lines(const Contract& contract) {
  std::string text = "Range:\n";
  for (const CollectiveContract& one : contract.collectives) {
    const values::RangeCounts& ranges = one.values.ranges;
    text += fmt::format("  {}: inputs to {:.4g}, sums to {:.4g}{}{}{}\n", one.label,
                        ranges.largest_input, ranges.largest_sum,
                        events_text("overflows", ranges.overflows),
                        events_text("saturations", ranges.saturations),
                        events_text("underflows", ranges.underflows));
    const numerics::QuantizeCounts& counts = one.values.quantized;
    if (counts.elements > 0)
      text +=
          fmt::format("    codes: {:.3g} % clipped, {:.3g} % flushed to zero\n",
                      100.0 * one.values.clipped_fraction(), 100.0 * one.values.flushed_fraction());
  }
  return text;
}

/// Collectives whose bits depend on the seed.
std::string random_note(const Contract& contract) {
  std::vector<std::string_view> labels;
  for (const CollectiveContract& one : contract.collectives)
    if (!one.deterministic) labels.push_back(one.label);
  if (labels.empty()) return "";
  return fmt::format("Random rounding, whose bits depend on the seed: {}\n",
                     fmt::join(labels, "; "));
}

/// Share of elements that differ at each size from the largest.
std::string sizes_table(const Contract& contract) {
  if (contract.collectives.front().sizes.empty()) return "";
  std::vector<output::TableRow> rows = {{"elements that differ from the largest size"}};
  for (const SizeCheck& check : contract.collectives.front().sizes)
    rows.front().push_back(units::bytes_text(static_cast<double>(check.bytes)));
  const auto add = [&](const std::string& label, const std::vector<SizeCheck>& checks) {
    output::TableRow row = {label};
    for (const SizeCheck& check : checks)
      row.push_back(check.obstacle.empty() ? share_text(check.ulps) : "-");
    rows.push_back(std::move(row));
  };
  for (const CollectiveContract& one : contract.collectives) add(one.label, one.sizes);
  if (contract.switching && contract.switching->sizes.size() + 1 == rows.front().size())
    add("the fastest at each size", contract.switching->sizes);
  output::shorten_names(rows);
  return output::aligned_table(rows) + "\n";
}

/// The fastest collective at each size: "one-shot up to 64.00 KiB, then ring".
std::string switching_text(const Contract& contract) {
  if (!contract.switching || contract.switching->sizes.empty()) return "";
  std::string text = "Fastest: ";
  const std::vector<SizeCheck>& sizes = contract.switching->sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && sizes[i].algorithm == sizes[i - 1].algorithm) continue;
    text += fmt::format("{}{} from {}", i == 0 ? "" : ", ", sizes[i].algorithm,
                        units::bytes_text(static_cast<double>(sizes[i].bytes)));
  }
  return text + "\n";
}

/// Share of elements that differ on fewer ranks.
std::string ranks_table(const Contract& contract) {
  if (contract.collectives.front().fewer_ranks.empty()) return "";
  std::vector<output::TableRow> rows = {{"elements that differ on fewer ranks"}};
  for (const RanksCheck& check : contract.collectives.front().fewer_ranks)
    rows.front().push_back(fmt::format("{}", check.ranks));
  for (const CollectiveContract& one : contract.collectives) {
    output::TableRow row = {one.label};
    for (const RanksCheck& check : one.fewer_ranks)
      row.push_back(check.obstacle.empty() ? share_text(check.ulps) : "-");
    rows.push_back(std::move(row));
  }
  output::shorten_names(rows);
  return output::aligned_table(rows) + "\n";
}

Json ulps_json(const UlpCounts& counts) {
  Json classes = Json::object();
  for (std::size_t i = 0; i < kDistances.size(); ++i)
    classes[std::string(kDistances[i])] = counts.by_distance[i];
  return {{"elements", counts.elements},
          {"differing", counts.differing()},
          {"differing_share", counts.differing_share()},
          {"by_distance", classes},
          {"most", counts.most},
          {"nonfinite", counts.nonfinite}};
}

Json events_json(const values::RangeEvents& events) {
  if (events.count == 0) return {{"count", 0}};
  return {{"count", events.count},
          {"first",
           {{"element", events.element},
            {"rank", events.rank},
            {"instruction", collectives::name(events.op)}}}};
}

std::string_view kind_name(Roundings::Kind kind) {
  switch (kind) {
    case Roundings::Kind::addition: return "addition";
    case Roundings::Kind::conversion: return "conversion";
    case Roundings::Kind::encoding: return "encoding";
  }
  return "";
}

Json path_json(const values::RoundingPath& path) {
  Json steps = Json::array();
  for (const Roundings& step : path.steps)
    steps.push_back({{"kind", kind_name(step.kind)},
                     {"format", format_name(step.format)},
                     {"count", step.count}});
  return {{"text", path_text(path)},
          {"additions", path.additions},
          {"conversions", path.conversions},
          {"encodings", path.encodings},
          {"steps", steps}};
}

Json sizes_json(const std::vector<SizeCheck>& sizes, std::string_view who) {
  Json list = Json::array();
  for (const SizeCheck& check : sizes) {
    Json json = {{"bytes", check.bytes}};
    if (!check.obstacle.empty()) {
      json["obstacle"] = check.obstacle;
    } else {
      json[std::string(who)] = check.algorithm;
      json["time_s"] = check.time_s;
      json["ulps"] = ulps_json(check.ulps);
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json ranks_json(const std::vector<RanksCheck>& checks) {
  Json list = Json::array();
  for (const RanksCheck& check : checks) {
    Json json = {{"ranks", check.ranks}};
    if (check.obstacle.empty())
      json["ulps"] = ulps_json(check.ulps);
    else
      json["obstacle"] = check.obstacle;
    list.push_back(std::move(json));
  }
  return list;
}

Json collective_json(const CollectiveContract& one) {
  const values::RangeCounts& ranges = one.values.ranges;
  Json against = Json::array();
  for (const UlpCounts& counts : one.against) against.push_back(ulps_json(counts));
  return {{"label", one.label},
          {"algorithm", one.algorithm},
          {"time_s", one.time_s},
          {"path", path_json(one.path)},
          {"expected_nmse", one.expected_nmse ? Json(*one.expected_nmse) : Json()},
          {"nmse", one.values.against_exact.nmse},
          {"nonfinite", one.values.against_exact.nonfinite},
          {"ulps", ulps_json(one.values.ulps)},
          {"range",
           {{"largest_input", ranges.largest_input},
            {"largest_sum", ranges.largest_sum},
            {"overflows", events_json(ranges.overflows)},
            {"saturations", events_json(ranges.saturations)},
            {"underflows", events_json(ranges.underflows)},
            {"clipped_fraction", one.values.clipped_fraction()},
            {"flushed_fraction", one.values.flushed_fraction()}}},
          {"ranks_identical", one.values.ranks_identical},
          {"ranks_differing", one.values.differing},
          {"deterministic", one.deterministic},
          {"same_at_all_cuts", one.cuts == 0 ? Json() : Json(one.same_at_all_cuts)},
          {"same_at_all_sizes", one.sizes.empty() ? Json() : Json(one.same_at_all_sizes())},
          {"same_for_all_ranks", one.fewer_ranks.empty() ? Json() : Json(one.same_for_all_ranks())},
          {"sizes", sizes_json(one.sizes, "algorithm")},
          {"fewer_ranks", ranks_json(one.fewer_ranks)},
          {"against", against}};
}

}  // namespace

std::string path_text(const values::RoundingPath& path) {
  std::vector<std::pair<std::string, std::uint32_t>> counts;  // by format, in order of appearance
  std::uint32_t fp32 = 0;
  for (const Roundings& step : path.steps) {
    if (step.kind == Roundings::Kind::addition &&
        step.format.element == numerics::ElementFormat::fp32) {
      fp32 += step.count;
      continue;
    }
    const std::string name = format_name(step.format);
    const auto known = std::ranges::find(counts, name, [](const auto& pair) { return pair.first; });
    if (known == counts.end())
      counts.emplace_back(name, step.count);
    else
      known->second += step.count;
  }
  if (counts.empty()) return fmt::format("{} x fp32", fp32);
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} x {}", count, name));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string to_text(const Contract& contract) {
  const config::TensorConfig& tensor = contract.config.tensor;
  std::string text = fmt::format(
      "{}, {} of {} on each rank\n\n{}\n{}\n", collectives::name(contract.config.collective),
      units::bytes_text(static_cast<double>(tensor.bytes())), numerics::name(tensor.dtype),
      main_table(contract), ulp_table(contract));
  if (contract.collectives.size() > 1) text += between_table(contract) + "\n";
  text += sizes_table(contract) + ranks_table(contract);
  text += switching_text(contract);
  if (contract.collectives.size() > 1) text += costs_table(fastest_by_promise(contract)) + "\n";
  return text + random_note(contract) + range_lines(contract);
}

Json to_json(const Contract& contract) {
  Json list = Json::array();
  for (const CollectiveContract& one : contract.collectives) list.push_back(collective_json(one));
  const Json resolved = config::to_json(contract.config);
  Json json = {{"program", "equarx-sim"},
               {"version", output::version()},
               {"config_hash", output::config_hash(resolved)},
               {"config", resolved},
               {"chips", config::count_chips(contract.config.topology)},
               {"calibrated", contract.config.chip.is_calibrated()},
               {"collectives", list},
               {"promises", costs_json(fastest_by_promise(contract))}};
  if (contract.switching)
    json["switching"] = {{"sizes", sizes_json(contract.switching->sizes, "label")},
                         {"same_at_all_sizes", contract.switching->same_at_all_sizes}};
  return json;
}

}  // namespace equarx::contract
