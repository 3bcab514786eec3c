#include "importers/msccl/msccl_report.hpp"

#include <cmath>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/os/printable.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"

namespace equarx::imports {
namespace {

std::string buffers_text(const schedules::Schedule& schedule) {
  if (schedule.in_place && schedule.out_of_place) return "in and out of place";
  return schedule.in_place ? "in place" : "out of place";
}

std::string verdict_text(const MscclSchedule& checked) {
  const std::string values = checked.compared
                                 ? fmt::format("Verified: every chunk of the result matches {}, {}",
                                               schedules::name(checked.schedule.collective),
                                               buffers_text(checked.schedule))
                                 : "Custom collective: result not checked";
  return values + (checked.looked_for_races ? "; no races."
                                            : "; too many thread blocks to check for races.");
}

std::string rate_text(double rate) {
  constexpr double kGiga = 1e9;
  return fmt::format("{:.4g} GB/s", rate / kGiga);
}

input::Json error_json(const MscclTime& time) {
  if (!time.error) return nullptr;
  const auto number = [](double value) {
    return std::isfinite(value) ? input::Json(value) : input::Json(nullptr);
  };
  return {{"format", time.format},
          {"mse", number(time.error->metrics.mse)},
          {"nmse", number(time.error->metrics.nmse)},
          {"sqnr_db", number(time.error->metrics.sqnr_db)},
          {"max_abs_error", number(time.error->metrics.max_abs_error)},
          {"nonfinite_elements", time.error->metrics.nonfinite},
          {"ranks_identical", time.error->ranks_identical},
          {"elements_of_each_chunk", time.error->elements}};
}

}  // namespace

std::string summary_text(const MscclSchedule& checked) {
  const schedules::Schedule& schedule = checked.schedule;
  return fmt::format("{}: {} of {} chunks over {} GPUs, {}, {} thread blocks, {} steps\n  {}\n",
                     os::printable(schedule.name), schedules::name(schedule.collective),
                     schedule.chunks, schedule.ranks.size(), schedules::name(schedule.protocol),
                     schedules::count_blocks(schedule), schedules::count_steps(schedule),
                     verdict_text(checked));
}

std::string to_table(const MscclSchedule& checked, const MscclTime& time) {
  output::TableRow head = {"bytes", "time", "algbw", "busbw", "lower bound", "busiest link"};
  output::TableRow row = {units::bytes_text(static_cast<double>(time.bytes)),
                          units::time_text(time.time_s),
                          rate_text(time.algorithm_bandwidth),
                          time.bus_bandwidth > 0.0 ? rate_text(time.bus_bandwidth) : "-",
                          units::time_text(time.lower_bound_s),
                          units::bytes_text(static_cast<double>(time.busiest_link_bytes))};
  if (time.error) {
    head.insert(head.end(), {"format", "MSE", "SQNR", "ranks"});
    row.insert(row.end(), {time.format, fmt::format("{:.3g}", time.error->metrics.mse),
                           numerics::sqnr_text(time.error->metrics.sqnr_db),
                           time.error->ranks_identical ? "identical" : "differ"});
  }
  std::string text = summary_text(checked) + "\n";
  std::istringstream lines(output::aligned_table({head, row}));
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  text += fmt::format("\n  Busiest link: {}. The runtime executes the schedule {} time{}.\n",
                      time.busiest_link, time.loops, time.loops == 1 ? "" : "s");
  if (time.error)
    text += fmt::format(
        "  Error: over the results of all ranks, with {} normally distributed values per chunk.\n",
        time.error->elements);
  for (const std::string& note : time.notes)
    text += fmt::format("  Note: {}.\n", os::printable(note));
  return text;
}

input::Json to_json(const MscclSchedule& checked, const std::optional<MscclTime>& time) {
  const schedules::Schedule& schedule = checked.schedule;
  input::Json json = {
      {"program", "equarx-sim"},
      {"version", output::version()},
      {"schedule",
       {{"name", schedule.name},
        {"collective", schedules::name(schedule.collective)},
        {"protocol", schedules::name(schedule.protocol)},
        {"in_place", schedule.in_place},
        {"out_of_place", schedule.out_of_place},
        {"chunks", schedule.chunks},
        {"gpus", schedule.ranks.size()},
        {"thread_blocks", schedules::count_blocks(schedule)},
        {"steps", schedules::count_steps(schedule)}}},
      {"check", {{"compared", checked.compared}, {"looked_for_races", checked.looked_for_races}}}};
  if (!time) return json;
  json["bytes"] = time->bytes;
  json["loops"] = time->loops;
  json["time_s"] = time->time_s;
  json["lower_bound_s"] = time->lower_bound_s;
  json["algorithm_bandwidth"] = time->algorithm_bandwidth;
  json["bus_bandwidth"] =
      time->bus_bandwidth > 0.0 ? input::Json(time->bus_bandwidth) : input::Json(nullptr);
  json["busiest_link"] = {{"name", time->busiest_link}, {"bytes", time->busiest_link_bytes}};
  json["calibrated"] = time->calibrated;
  json["error"] = error_json(*time);
  json["notes"] = time->notes;
  return json;
}

}  // namespace equarx::imports
