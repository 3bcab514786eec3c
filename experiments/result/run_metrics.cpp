#include "experiments/result/run_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/algorithm.hpp"

namespace equarx::result {
namespace {

using run::RunResult;
using run::TimedRun;

/// Schema of numbers that may be infinite or undefined.
constexpr std::string_view kOrNull = R"({"type": ["number", "null"]})";
constexpr std::string_view kFromOne = R"({"minimum": 1})";

Metrics<RunResult> first_metrics() {
  return {
      {{.key = "label",
        .unit = Unit::text,
        .meaning = "of the collective",
        .title = "collective",
        .place = 10},
       &RunResult::label},
      {{.key = "algorithm",
        .unit = Unit::text,
        .meaning = "for `auto`, the algorithm chosen",
        .place = 20},
       [](const RunResult& run) { return config::algorithm_name(run.algorithm); }},
      {{.key = "protocol",
        .unit = Unit::text,
        .meaning = "of NCCL; for `auto`, the one chosen",
        .empty = Empty::absent},
       [](const RunResult& run) {
         return run.protocol == hardware::Protocol::none
                    ? std::nullopt
                    : std::optional(hardware::name(run.protocol));
       }},
      {{.key = "time_s",
        .unit = Unit::time,
        .meaning = "until the last chip finishes. `null` after a link failure",
        .empty = Empty::null,
        .place = 50,
        .compared = true,
        .schema = R"({"exclusiveMinimum": 0})"},
       [](const RunResult& run) { return run.failure ? std::nullopt : std::optional(run.time_s); }},
      {{.key = "speedup",
        .unit = Unit::speedup,
        .meaning = "baseline time / `time_s`, or `null`",
        .empty = Empty::null,
        .place = 60,
        .compared = true},
       &RunResult::speedup}};
}

Metrics<RunResult> traffic_metrics() {
  return {{{.key = "lower_bound_s",
            .unit = Unit::time,
            .meaning = "bytes of the slowest link direction / its bandwidth ([model.md](model.md), "
                       "M5), or of an HBM shared by DMAs. Bounds every schedule of this algorithm",
            .place = 110,
            .compared = true},
           &RunResult::lower_bound_s},
          {{.key = "wire_bytes_per_link",
            .unit = Unit::bytes,
            .meaning = "over the busiest link direction, including scales",
            .title = "bytes per link",
            .place = 120,
            .compared = true},
           &RunResult::wire_bytes_per_link},
          {{.key = "bus_bandwidth",
            .unit = Unit::number,
            .meaning = "B/s: bus bandwidth as defined by nccl-tests",
            .empty = Empty::null,
            .title = "bus bandwidth",
            .place = 115,
            .compared = true,
            .schema = R"({"exclusiveMinimum": 0})"},
           [](const RunResult& run) {
             return run.failure ? std::nullopt : std::optional(run.bus_bytes / run.time_s);
           }},
          {{.key = "chips",
            .unit = Unit::count,
            .meaning = "in the topology",
            .place = 130,
            .schema = R"({"minimum": 2})"},
           &RunResult::chips}};
}

Metrics<RunResult> choice_metrics() {
  return {{{.key = "engine_reason", .unit = Unit::text, .meaning = "reason for the engine"},
           &RunResult::engine_reason},
          {{.key = "minishards",
            .unit = Unit::count,
            .meaning = "per chunk; `null` if chunks differ",
            .empty = Empty::null,
            .schema = kFromOne},
           [](const RunResult& run) {
             return run.cut ? std::optional(run.cut->minishards) : std::nullopt;
           }},
          {{.key = "microshards",
            .unit = Unit::count,
            .meaning = "per minishard; `null` if chunks differ",
            .empty = Empty::null,
            .schema = kFromOne},
           [](const RunResult& run) {
             return run.cut ? std::optional(run.cut->microshards) : std::nullopt;
           }},
          {{.key = "cut_reason",
            .unit = Unit::text,
            .meaning = "reason for `minishards` and `microshards`"},
           &RunResult::cut_reason}};
}

Metrics<RunResult> core_metrics() {
  return {{{.key = "elements_per_scale",
            .unit = Unit::count,
            .meaning = "mean; `null` without scales. 1 or 2 (small tensors) explain small errors",
            .empty = Empty::null,
            .schema = R"({"type": "number", "minimum": 1})"},
           &RunResult::elements_per_scale},
          {{.key = "core_busy_s",
            .unit = Unit::time,
            .meaning = "of the busiest core: vector ops with HBM waits, DMA starts, arrivals, "
                       "barriers"},
           &RunResult::core_busy_s},
          Metric<RunResult>(
              {.key = "core",
               .unit = Unit::object,
               .meaning = "mean core time per chip; the parts sum to the mean finish time"}),
          {{.key = "core/busy_s",
            .unit = Unit::time,
            .meaning = "of instructions",
            .title = "core busy, mean"},
           [](const RunResult& run) { return run.core.busy_s; }},
          {{.key = "core/waits_for_links_s",
            .unit = Unit::time,
            .meaning = "waiting for messages in flight (transmission, latency, link queues)",
            .title = "core waits for links"},
           [](const RunResult& run) { return run.core.waits.links_s; }},
          {{.key = "core/waits_for_senders_s",
            .unit = Unit::time,
            .meaning = "waiting for messages not yet sent",
            .title = "core waits for senders"},
           [](const RunResult& run) { return run.core.waits.senders_s; }},
          {{.key = "core/waits_for_queue_s",
            .unit = Unit::time,
            .meaning = "waiting to send (`dma_queue` transfers to that neighbour in flight)",
            .title = "core waits for queues"},
           [](const RunResult& run) { return run.core.waits.queue_s; }}};
}

Metrics<run::Breakdown> breakdown_metrics() {
  using run::Breakdown;
  return {
      {{.key = "payload_s",
        .unit = Unit::time,
        .meaning = "transfer of encoded elements",
        .title = "payload on the wire"},
       &Breakdown::payload_s},
      {{.key = "scales_s",
        .unit = Unit::time,
        .meaning = "transfer of scales, or amaxes for shared scales",
        .title = "scales on the wire"},
       &Breakdown::scales_s},
      {{.key = "sync_s",
        .unit = Unit::time,
        .meaning = "*per-hop sync*: neighbours synchronise before a quantized step and hold the "
                   "link (`step_sync_time`)",
        .title = "per-hop sync"},
       &Breakdown::sync_s},
      {{.key = "startup_s",
        .unit = Unit::time,
        .meaning = "*startup*: `collective_startup`; also `program_startup` if timed as a program"},
       &Breakdown::startup_s},
      {{.key = "idle_s",
        .unit = Unit::time,
        .meaning = "*idle*: latency, core, barriers, other links"},
       &Breakdown::idle_s}};
}

Metrics<run::FailureReport> failure_metrics() {
  using run::FailureReport;
  return {
      {{.key = "time_s", .unit = Unit::time, .meaning = "of detection"}, &FailureReport::time_s},
      {{.key = "link", .unit = Unit::text, .meaning = "failed link direction"},
       &FailureReport::link},
      {{.key = "from", .unit = Unit::text, .meaning = "sender of the lost transfer"},
       &FailureReport::from},
      {{.key = "to", .unit = Unit::text, .meaning = "its receiver"}, &FailureReport::to},
      {{.key = "transfer", .unit = Unit::text, .meaning = "its content"},
       &FailureReport::transfer}};
}

/// A function that returns an error against the exact sum.
auto of_exact(double numerics::ErrorMetrics::*member) {
  return [member](const values::ValueResult& values) { return values.against_exact.*member; };
}

/// A function that returns a difference from the baseline's result, if there is one.
auto of_baseline(double numerics::ErrorMetrics::*member) {
  return [member](const values::ValueResult& values) {
    return values.against_baseline ? std::optional((*values.against_baseline).*member)
                                   : std::nullopt;
  };
}

/// Errors of values.
Metrics<values::ValueResult> error_metrics() {
  using numerics::ErrorMetrics;
  return {{{.key = "mse",
            .unit = Unit::squared,
            .meaning = "mean squared error",
            .title = "MSE",
            .compared = true},
           of_exact(&ErrorMetrics::mse)},
          {{.key = "nmse",
            .unit = Unit::ratio,
            .meaning = "squared error / squared reference values",
            .title = "NMSE",
            .place = 150,
            .schema = kOrNull},
           of_exact(&ErrorMetrics::nmse)},
          {{.key = "sqnr_db",
            .unit = Unit::decibel,
            .meaning = "-10 log10(`nmse`)",
            .title = "SQNR",
            .place = 140,
            .compared = true},
           of_exact(&ErrorMetrics::sqnr_db)},
          {{.key = "max_abs_error",
            .unit = Unit::tensor,
            .meaning = "largest error",
            .title = "largest error"},
           of_exact(&ErrorMetrics::max_abs_error)},
          {{.key = "mean_signed_error",
            .unit = Unit::tensor,
            .meaning = "bias (mean of value - exact value)",
            .title = "mean error"},
           of_exact(&ErrorMetrics::mean_signed_error)},
          {{.key = "cosine_similarity",
            .unit = Unit::ratio,
            .meaning = "of result and exact sum, -1 to 1",
            .schema = kOrNull},
           of_exact(&ErrorMetrics::cosine_similarity)}};
}

/// Metrics of values apart from errors against the exact sum.
Metrics<values::ValueResult> other_value_metrics() {
  using values::ValueResult;
  return {
      {{.key = "clipped_fraction",
        .unit = Unit::share,
        .meaning = "quantized elements beyond the largest code; with shared scales, also sums of "
                   "codes"},
       &ValueResult::clipped_fraction},
      {{.key = "flushed_fraction",
        .unit = Unit::share,
        .meaning = "nonzero elements quantized to zero"},
       &ValueResult::flushed_fraction},
      {{.key = "ranks_identical",
        .unit = Unit::flag,
        .meaning = "all ranks end with the same bits; false is a defect"},
       &ValueResult::ranks_identical},
      {{.key = "elements", .unit = Unit::count, .meaning = "compared elements", .schema = kFromOne},
       [](const ValueResult& values) { return values.against_exact.count; }},
      {{.key = "nonfinite_elements",
        .unit = Unit::count,
        .meaning = "of these, NaN or Inf in the result or the exact sum; left out of the errors",
        .title = "NaN or Inf"},
       [](const ValueResult& values) { return values.against_exact.nonfinite; }},
      {{.key = "sampled_fraction", .unit = Unit::share, .meaning = "computed share of the tensor"},
       &ValueResult::sampled_fraction}};
}

/// Differences from the baseline.
Metrics<values::ValueResult> change_metrics() {
  using numerics::ErrorMetrics;
  return {{{.key = "mse_vs_baseline",
            .unit = Unit::squared,
            .meaning = "difference from the baseline's result, itself inexact",
            .empty = Empty::absent,
            .title = "MSE vs baseline"},
           of_baseline(&ErrorMetrics::mse)},
          {{.key = "nmse_vs_baseline",
            .unit = Unit::ratio,
            .meaning = "the same / squared values of the baseline",
            .empty = Empty::absent,
            .title = "NMSE vs baseline",
            .schema = kOrNull},
           of_baseline(&ErrorMetrics::nmse)}};
}

/// Lists of a run.
Metrics<RunResult> list_keys() {
  return {
      Metric<RunResult>({.key = "candidates",
                         .unit = Unit::list,
                         .meaning = "algorithms considered by `auto`",
                         .empty = Empty::absent}),
      Metric<RunResult>({.key = "links",
                         .unit = Unit::list,
                         .meaning = "with `--links`: link directions; under symmetry, of one chip",
                         .empty = Empty::absent})};
}

/// Objects of a run after its breakdown, before their metrics.
/// @{
Metrics<RunResult> numerics_key() {
  return {Metric<RunResult>::nullable_object(
      {.key = "numerics",
       .unit = Unit::object,
       .meaning = "errors of values; `null` with `\"numerics\": \"off\"`",
       .empty = Empty::null},
      [](const RunResult& run) { return run.numerics.has_value(); })};
}

Metrics<RunResult> hbm_metrics() {
  return {
      {{.key = "hbm_busy_share",
        .unit = Unit::share,
        .meaning = "with `\"wire_buffers\": \"hbm\"`: of the busiest HBM, by DMAs and collectives",
        .empty = Empty::absent,
        .title = "HBM busy"},
       &RunResult::hbm_busy_share}};
}

Metrics<RunResult> object_key(const char* key, std::string_view meaning, Empty empty) {
  return {
      Metric<RunResult>({.key = key, .unit = Unit::object, .meaning = meaning, .empty = empty})};
}
/// @}

/// Metrics of the objects of a run.
Metrics<RunResult> object_metrics() {
  return joined(
      {object_key("breakdown",
                  "parts of `time_s`, as seen by the link direction of `lower_bound_s`",
                  Empty::never),
       within<RunResult>("breakdown", breakdown_metrics(),
                         [](const RunResult& run) { return &run.breakdown; }),
       numerics_key(),
       within<RunResult>("numerics", numerics_metrics(), if_present(&RunResult::numerics)),
       hbm_metrics(), in_common<RunResult>(interval_metrics()),
       object_key("failure", "a link failure ended the run", Empty::absent),
       within<RunResult>("failure", failure_metrics(), if_present(&RunResult::failure))});
}

Metrics<hardware::Energy> energy_metrics() {
  using hardware::Energy;
  return {
      {{.key = "energy_j",
        .unit = Unit::energy,
        .meaning = "of all chips; absent without the parameters of an `energy_model`",
        .empty = Empty::absent,
        .title = "energy, J"},
       &Energy::joules},
      {{.key = "energy_model",
        .unit = Unit::text,
        .meaning = "`\"operations\"` or `\"busy\"` ([cost.md](cost.md#energy))",
        .empty = Empty::absent,
        .schema = R"({"enum": ["operations", "busy"]})"},
       [](const Energy& energy) { return hardware::name(energy.model); }},
      {{.key = "energy_limited",
        .unit = Unit::flag,
        .meaning = "true: `energy_j` is `power_busy` x time, below the sum of the equation",
        .empty = Empty::absent},
       [](const Energy& energy) { return energy.limited ? std::optional(true) : std::nullopt; }},
      {{.key = "energy_left_out",
        .unit = Unit::text,
        .meaning = "work that `energy_j` lacks, as the chip has no energy for it",
        .empty = Empty::absent},
       [](const Energy& energy) {
         return energy.left_out.empty()
                    ? std::nullopt
                    : std::optional(fmt::format("{}", fmt::join(energy.left_out, ", ")));
       }}};
}

}  // namespace

const Metrics<variation::Uncertainty>& uncertainty_metrics() {
  using variation::Uncertainty;
  static const Metrics<Uncertainty> metrics = {
      {{.key = "samples",
        .unit = Unit::count,
        .meaning = "Monte Carlo samples",
        .title = "Monte Carlo samples",
        .schema = kFromOne},
       &Uncertainty::samples},
      {{.key = "time_low_s",
        .unit = Unit::time,
        .meaning = "central 68 % interval of `time_s`",
        .title = "time, 68 % low",
        .place = 52},
       [](const Uncertainty& interval) { return interval.time_s.low; }},
      {{.key = "time_high_s",
        .unit = Unit::time,
        .meaning = "central 68 % interval of `time_s`",
        .title = "time, 68 % high",
        .place = 54},
       [](const Uncertainty& interval) { return interval.time_s.high; }},
      {{.key = "speedup_low",
        .unit = Unit::speedup,
        .meaning = "the same for `speedup`",
        .title = "speedup, 68 % low",
        .place = 62},
       [](const Uncertainty& interval) { return interval.speedup.low; }},
      {{.key = "speedup_high",
        .unit = Unit::speedup,
        .meaning = "the same for `speedup`",
        .title = "speedup, 68 % high",
        .place = 64},
       [](const Uncertainty& interval) { return interval.speedup.high; }}};
  return metrics;
}

const Metrics<TimedRun>& simulation_kind_metrics() {
  static const Metrics<TimedRun> metrics = {
      {{.key = "simulation",
        .unit = Unit::text,
        .meaning = "`\"full\"` or `\"symmetric\"` ([representative "
                   "chips](algorithms.md#symmetric-simulation))",
        .schema = R"({"enum": ["full", "symmetric"]})"},
       [](const TimedRun& run) -> std::string_view {
         return run.symmetric ? "symmetric" : "full";
       }},
      {{.key = "simulation_reason",
        .unit = Unit::text,
        .meaning = "why representatives stand for all chips, or do not"},
       &TimedRun::simulation_reason},
      {{.key = "engine",
        .unit = Unit::text,
        .meaning = "`\"simgrid\"` or `\"direct\"` ([model.md](model.md#engines))",
        .schema = R"({"enum": ["simgrid", "direct"]})"},
       [](const TimedRun& run) { return sim::name(run.engine); }}};
  return metrics;
}

const Metrics<TimedRun>& message_metrics() {
  static const Metrics<TimedRun> metrics = {
      {{.key = "messages", .unit = Unit::count, .meaning = "simulated messages"},
       &TimedRun::messages}};
  return metrics;
}

const Metrics<TimedRun>& interval_metrics() {
  static const Metrics<TimedRun> metrics = joined(
      {Metrics<TimedRun>{Metric<TimedRun>(
           {.key = "uncertainty",
            .unit = Unit::object,
            .meaning = "with `uncertainty` configured or `--uncertainty`: 68 % intervals",
            .empty = Empty::absent})},
       within<TimedRun>("uncertainty", uncertainty_metrics(), if_present(&TimedRun::uncertainty))});
  return metrics;
}

const Metrics<TimedRun>& calibration_metrics() {
  static const Metrics<TimedRun> metrics = {
      {{.key = "calibrated",
        .unit = Unit::flag,
        .meaning = "false: the chip rests on datasheet values and assumptions "
                   "([hardware.md](hardware.md))",
        .title = "chip calibrated"},
       &TimedRun::calibrated}};
  return metrics;
}

const Metrics<hardware::Expenses>& expense_metrics() {
  using hardware::Expenses;
  static const Metrics<Expenses> metrics =
      joined({Metrics<Expenses>{{{.key = "cost_usd",
                                  .unit = Unit::money,
                                  .meaning = "of all chips; absent without a price "
                                             "([cost.md](cost.md))",
                                  .empty = Empty::absent,
                                  .title = "cost, $"},
                                 &Expenses::dollars}},
              within<Expenses>("", energy_metrics(), if_present(&Expenses::energy))});
  return metrics;
}

const Metrics<values::ValueResult>& numerics_metrics() {
  static const Metrics<values::ValueResult> metrics =
      joined({error_metrics(), other_value_metrics(), change_metrics()});
  return metrics;
}

const Metrics<RunResult>& run_metrics() {
  static const Metrics<RunResult> metrics = joined(
      {first_metrics(), traffic_metrics(), in_common<RunResult>(calibration_metrics()),
       in_common<RunResult>(simulation_kind_metrics()), choice_metrics(),
       in_common<RunResult>(message_metrics()), core_metrics(),
       within<RunResult>("", expense_metrics(), [](const RunResult& run) { return &run.expenses; }),
       object_metrics(), list_keys()});
  return metrics;
}

}  // namespace equarx::result
