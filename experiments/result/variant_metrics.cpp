#include "experiments/config/algorithm.hpp"
#include "experiments/result/run_metrics.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::result {
namespace {

using step::VariantResult;

Metrics<VariantResult> variant_times() {
  return {
      {{.key = "label",
        .unit = Unit::text,
        .meaning = "of the variant",
        .title = "collective",
        .place = 10},
       &VariantResult::label},
      {{.key = "chips",
        .unit = Unit::count,
        .meaning = "of the mesh",
        .place = 130,
        .schema = R"({"minimum": 1})"},
       &VariantResult::chips},
      {{.key = "time_s",
        .unit = Unit::time,
        .meaning = "of the step",
        .place = 50,
        .compared = true,
        .schema = R"({"exclusiveMinimum": 0})"},
       &VariantResult::time_s},
      {{.key = "speedup",
        .unit = Unit::speedup,
        .meaning = "baseline time / `time_s`",
        .place = 60,
        .compared = true},
       &VariantResult::speedup},
      {{.key = "lower_bound_s",
        .unit = Unit::time,
        .meaning = "the largest of: longest path through the tasks at their minimum times, core "
                   "time, bytes of the busiest link or HBM / its bandwidth",
        .place = 110,
        .compared = true},
       &VariantResult::lower_bound_s}};
}

Metrics<VariantResult> variant_work() {
  return {
      {{.key = "compute_s",
        .unit = Unit::time,
        .meaning = "time with a running compute task, overlapped or not",
        .place = 70},
       &VariantResult::compute_s},
      {{.key = "exposed_s",
        .unit = Unit::time,
        .meaning = "time without a running compute task",
        .place = 80},
       &VariantResult::exposed_s},
      {{.key = "bubble",
        .unit = Unit::share,
        .meaning =
            "training with a pipeline: mean over its stages of the share of the time without a "
            "running compute task",
        .empty = Empty::absent,
        .compared = true},
       [](const VariantResult& variant) { return variant.bubble(); }},
      {{.key = "core_busy_s",
        .unit = Unit::time,
        .meaning = "for tasks and collectives; this and all task figures refer to the last chip "
                   "to finish, unless chips have roles ([steps.md](steps.md#simulation))"},
       &VariantResult::core_busy_s}};
}

/// Errors of all collectives with values.
Metrics<step::StepAccuracy> step_error_metrics() {
  using step::StepAccuracy;
  return {{{.key = "worst_nmse",
            .unit = Unit::ratio,
            .meaning = "of collectives with `values`: largest",
            .empty = Empty::absent,
            .schema = R"({"minimum": 0})"},
           &StepAccuracy::worst_nmse},
          {{.key = "worst_sqnr_db",
            .unit = Unit::decibel,
            .meaning = "-10 log10(`worst_nmse`)",
            .empty = Empty::absent},
           [](const StepAccuracy& error) { return numerics::sqnr_db(error.worst_nmse); }},
          {{.key = "mean_nmse",
            .unit = Unit::ratio,
            .meaning = "of collectives with `values`: mean weighted by bytes",
            .empty = Empty::absent,
            .schema = R"({"minimum": 0})"},
           &StepAccuracy::mean_nmse}};
}

/// The only collective of a step, such as the AllReduce of a workload; null if there are several.
const run::RunResult* only_run(const VariantResult& variant) {
  return variant.collectives.size() == 1 ? &variant.collectives.front().run : nullptr;
}

Metrics<VariantResult> collective_metrics() {
  return {{{.key = "algorithm",
            .unit = Unit::text,
            .meaning = "of the only distinct collective",
            .empty = Empty::absent,
            .place = 20},
           [](const VariantResult& variant) {
             const run::RunResult* const run = only_run(variant);
             return run != nullptr ? std::optional(config::algorithm_name(run->algorithm))
                                   : std::nullopt;
           }},
          {{.key = "wire_bytes_per_link",
            .unit = Unit::bytes,
            .meaning = "of the only distinct collective, over the busiest link direction",
            .empty = Empty::absent,
            .title = "bytes per link",
            .place = 120,
            .compared = true},
           [](const VariantResult& variant) {
             const run::RunResult* const run = only_run(variant);
             return run != nullptr && !run->links.empty() ? std::optional(run->wire_bytes_per_link)
                                                          : std::nullopt;
           }},
          Metric<VariantResult>({.key = "numerics",
                                 .unit = Unit::object,
                                 .meaning = "errors of the only distinct collective, as of "
                                            "collectives; against a baseline for workloads",
                                 .empty = Empty::absent})};
}

/// Metrics of training and serving.
Metrics<step::Efficiency> efficiency_metrics() {
  using step::Efficiency;
  return {{{.key = "matrix_s",
            .unit = Unit::time,
            .meaning = "training and serving: core time in isolation of GEMMs",
            .empty = Empty::absent,
            .title = "GEMMs"},
           &Efficiency::matrix_s},
          {{.key = "attention_s",
            .unit = Unit::time,
            .meaning = "the same of attention",
            .empty = Empty::absent},
           &Efficiency::attention_s},
          {{.key = "elementwise_s",
            .unit = Unit::time,
            .meaning = "the same of element-wise and memory operations",
            .empty = Empty::absent,
            .title = "element-wise ops"},
           &Efficiency::elementwise_s},
          {{.key = "tokens_per_s_per_chip",
            .unit = Unit::number,
            .meaning = "training and serving: tokens per second and chip",
            .empty = Empty::absent,
            .title = "tokens/s/chip",
            .place = 90},
           &Efficiency::tokens_per_s},
          {{.key = "model_flops_utilisation",
            .unit = Unit::share,
            .meaning = "MFU, training only ([steps.md](steps.md#output))",
            .empty = Empty::absent,
            .title = "MFU",
            .place = 100},
           &Efficiency::model_flops_share},
          {{.key = "hardware_flops_utilisation",
            .unit = Unit::share,
            .meaning = "HFU ([steps.md](steps.md#output))",
            .empty = Empty::absent,
            .title = "HFU"},
           &Efficiency::hardware_flops_share}};
}

/// Expenses relative to tokens.
Metrics<VariantResult> token_metrics() {
  constexpr double kMillion = 1e6;
  const auto joules_of_token = [](const VariantResult& variant) -> std::optional<double> {
    const std::optional<double> tokens = variant.tokens();
    if (!tokens || !variant.expenses.energy) return std::nullopt;
    return variant.expenses.energy->joules / *tokens;
  };
  return {{{.key = "cost_per_million_tokens_usd",
            .unit = Unit::money,
            .meaning = "training and serving: `cost_usd` per 1e6 tokens",
            .empty = Empty::absent,
            .title = "$/1e6 tokens",
            .place = 92,
            .compared = true},
           [](const VariantResult& variant) -> std::optional<double> {
             const std::optional<double> tokens = variant.tokens();
             if (!tokens || !variant.expenses.dollars) return std::nullopt;
             return *variant.expenses.dollars / *tokens * kMillion;
           }},
          {{.key = "energy_per_token_j",
            .unit = Unit::energy,
            .meaning = "training and serving: `energy_j` per token",
            .empty = Empty::absent,
            .title = "J/token",
            .place = 94,
            .compared = true},
           joules_of_token},
          {{.key = "tokens_per_j",
            .unit = Unit::number,
            .meaning = "its reciprocal",
            .empty = Empty::absent,
            .title = "tokens/J"},
           [=](const VariantResult& variant) -> std::optional<double> {
             const std::optional<double> joules = joules_of_token(variant);
             if (!joules) return std::nullopt;
             return 1.0 / *joules;
           }}};
}

Metrics<VariantResult> memory_metrics() {
  return {{{.key = "hbm_share",
            .unit = Unit::share,
            .meaning = "training and serving: memory alive at once / HBM of a chip; above 1, the "
                       "step does not fit",
            .empty = Empty::absent,
            .title = "HBM",
            .place = 105,
            .schema = R"({"minimum": 0})"},
           &VariantResult::hbm_share}};
}

/// Keys of the lists of a variant.
Metrics<VariantResult> lists() {
  const auto list = [](const char* key, std::string_view meaning) {
    return Metric<VariantResult>({.key = key, .unit = Unit::list, .meaning = meaning});
  };
  return {
      list("groups", "task groups, by start time"),
      list("collectives",
           "distinct collectives in isolation, in one group: `group`, `tasks` (that run it), "
           "and the fields of a run of collectives; of listed groups only time and values"),
      list("tasks",
           "tasks, with their times on the last chip to finish; with roles, on all that run it"),
      list("critical_path", "names of its tasks"),
      Metric<VariantResult>({.key = "kinds",
                             .unit = Unit::list,
                             .meaning = "with `when`: the kinds of step whose mean all times are; "
                                        "lists are of the first",
                             .empty = Empty::absent}),
      Metric<VariantResult>({.key = "stage_idle",
                             .unit = Unit::list,
                             .meaning = "`bubble` of each stage",
                             .empty = Empty::absent})};
}

Metrics<VariantResult> simulated_chips() {
  return {{{.key = "simulated_chips",
            .unit = Unit::count,
            .meaning = "simulated chips",
            .schema = R"({"minimum": 1})"},
           &VariantResult::simulated_chips}};
}

}  // namespace

const Metrics<VariantResult>& variant_metrics() {
  const auto numerics = [](const VariantResult& variant) {
    const run::RunResult* const run = only_run(variant);
    return run != nullptr && run->numerics ? &*run->numerics : nullptr;
  };
  static const Metrics<VariantResult> metrics = joined(
      {variant_times(), variant_work(), in_common<VariantResult>(calibration_metrics()),
       in_common<VariantResult>(interval_metrics()),
       within<VariantResult>("", step_error_metrics(), if_present(&VariantResult::error)),
       collective_metrics(), within<VariantResult>("numerics", numerics_metrics(), numerics),
       within<VariantResult>("", efficiency_metrics(), if_present(&VariantResult::efficiency)),
       within<VariantResult>("", expense_metrics(),
                             [](const VariantResult& variant) { return &variant.expenses; }),
       token_metrics(), memory_metrics()});
  return metrics;
}

const Metrics<VariantResult>& simulation_metrics() {
  static const Metrics<VariantResult> metrics =
      joined({lists(), in_common<VariantResult>(simulation_kind_metrics()), simulated_chips(),
              in_common<VariantResult>(message_metrics())});
  return metrics;
}

}  // namespace equarx::result
