#include "experiments/result/table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/input/nearest.hpp"
#include "experiments/output/table.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/trust.hpp"
#include "models/units/quantity.hpp"

namespace equarx::result {
namespace {

std::string tensor_text(const config::TensorConfig& tensor) {
  const std::string size = units::bytes_text(static_cast<double>(tensor.bytes()));
  if (tensor.shape.empty()) return fmt::format("{} of {}", size, numerics::name(tensor.dtype));
  return fmt::format("{} {} ({})", fmt::join(tensor.shape, " x "), numerics::name(tensor.dtype),
                     size);
}

/// Those of a workload leave out what is less telling there, so that a line has room for its parts.
std::vector<std::string> headings(bool workload, bool numerics, bool uncertain) {
  std::vector<std::string> row = {"collective", "time"};
  if (uncertain) row.emplace_back("68 % of chips");
  row.emplace_back("speedup");
  if (uncertain) row.emplace_back("68 % of chips");
  row.emplace_back("lower bound");
  if (workload)
    row.insert(row.end(), {"computing", "AllReduces", "share", "each"});
  else
    row.push_back("bytes/link");
  if (numerics) row.insert(row.end(), {"MSE", "SQNR"});
  if (numerics && !workload) row.push_back("MSE vs baseline");
  if (numerics) row.push_back("ranks");
  return row;
}

/// Where the time of a phase goes.
void append_phase(const run::RunResult& run, output::TableRow& row) {
  const run::PhaseResult& phase = *run.phase;
  row.push_back(units::time_text(phase.compute_s));
  if (run.failure) {
    row.insert(row.end(), {"-", "-", "-"});
    return;
  }
  row.push_back(units::time_text(phase.allreduce_s));
  row.push_back(fmt::format("{:.1f} %", 100.0 * phase.allreduce_s / run.time_s));
  row.push_back(units::time_text(phase.allreduce_s / phase.allreduces));
}

output::TableRow row_of(const run::RunResult& run, bool uncertain) {
  output::TableRow row = {run.label, run.failure ? "fails" : units::time_text(run.time_s)};
  if (uncertain)
    row.push_back(fmt::format("{} to {}", units::time_text(run.uncertainty->time_s.low),
                              units::time_text(run.uncertainty->time_s.high)));
  row.push_back(run.speedup ? fmt::format("{:.3f}x", *run.speedup) : "-");
  if (uncertain)
    row.push_back(fmt::format("{:.3f} to {:.3f}", run.uncertainty->speedup.low,
                              run.uncertainty->speedup.high));
  row.push_back(units::time_text(run.lower_bound_s));
  if (run.phase)
    append_phase(run, row);
  else
    row.push_back(units::bytes_text(static_cast<double>(run.wire_bytes_per_link)));
  if (!run.numerics) return row;
  row.push_back(fmt::format("{:.3g}", run.numerics->against_exact.mse));
  row.push_back(fmt::format("{:.2f} dB", run.numerics->against_exact.sqnr_db));
  if (!run.phase) row.push_back(fmt::format("{:.3g}", run.numerics->against_baseline.value().mse));
  row.push_back(run.numerics->ranks_identical ? "identical" : "differ");
  return row;
}

/// "Prefill of gemma3-27b, 4096 tokens x 1"
std::string workload_text(const config::WorkloadConfig& workload) {
  const workloads::Extent extent = workloads::extent(workload.phase);
  return std::holds_alternative<workloads::Prefill>(workload.phase)
             ? fmt::format("Prefill of {}, {} tokens x {}", workload.model.name, extent.queries,
                           extent.batch)
             : fmt::format("Decoding of {}, one token each of {} sequences of {}",
                           workload.model.name, extent.batch, extent.keys);
}

/// What a chip computes; the same whatever the collective.
std::string operations_table(const run::ExperimentResult& result) {
  double total_s = 0.0;
  for (const plan::OperationTotal& operation : result.operations) total_s += operation.time_s;
  std::vector<output::TableRow> rows = {
      {"operation of each chip", "times", "time", "of computing", "waits for"}};
  for (const plan::OperationTotal& operation : result.operations)
    rows.push_back({operation.name, fmt::format("{}", operation.count),
                    units::time_text(operation.time_s),
                    fmt::format("{:.1f} %", 100.0 * operation.time_s / total_s),
                    std::string(workloads::name(operation.roof))});
  return output::aligned_table(rows) + '\n';
}

std::string workload_note(const run::ExperimentResult& result) {
  const run::RunResult& run = result.runs.front();
  const config::WorkloadConfig& workload = *result.config.workload;
  std::string text = fmt::format(
      "  {} AllReduces of {} on each chip{}.\n", run.phase->allreduces,
      tensor_text(result.config.tensor),
      workload.chunks > 1 ? fmt::format(", beside the computing of {} chunks", workload.chunks)
                          : "");
  if (workload.chunks > 1)
    text += "  The time of AllReduces is what the chip does not compute in.\n";
  if (run.phase->layers_repeated)
    text +=
        "  One layer of each kind was simulated and stands for all, because chips begin and end "
        "layers together.\n";
  return text;
}

std::string title(const run::ExperimentResult& result) {
  const config::ExperimentConfig& config = result.config;
  const std::string what = config.workload
                               ? workload_text(*config.workload)
                               : fmt::format("{} of {}", collectives::name(config.collective),
                                             tensor_text(config.tensor));
  return fmt::format("{} on {}{} x {}, {}\n\n", what, config.workload ? "" : "each of ",
                     result.runs.front().chips, config.chip.name,
                     config::topology_text(config.topology));
}

std::string failure_note(const run::RunResult& run) {
  const run::FailureReport& failure = *run.failure;
  return fmt::format(
      "  {} fails at {}: {} from {} to {} did not arrive, because link {} is down.\n", run.label,
      units::time_text(failure.time_s), failure.transfer, failure.from, failure.to, failure.link);
}

/// What `auto` took, and what the others would have been.
std::string candidates_note(const run::RunResult& run) {
  std::string text = fmt::format(
      "  {} took {}, {}:\n", run.label, config::algorithm_name(run.algorithm),
      run.failure ? "although it fails as all others do" : "the fastest of those that can run");
  for (const run::Candidate& candidate : run.candidates)
    text += fmt::format("    {:<18}  {}\n", candidate.algorithm->name,
                        candidate.time_s ? units::time_text(*candidate.time_s) : candidate.note);
  return text;
}

/// How busy the busiest link directions were, and which they are.
std::string busiest_text(const run::RunResult& run) {
  constexpr std::size_t kNamed = 2;
  const auto percent = [&](const run::LinkUse& link) {
    return std::lround(100.0 * link.utilisation(run.time_s));
  };
  const auto [least, most] = std::ranges::minmax(run.links, {}, percent);
  if (percent(least) == percent(most)) return fmt::format("{} %, all alike", percent(most));
  std::vector<std::string_view> names;
  for (const run::LinkUse& link : run.links)
    if (percent(link) == percent(most)) names.push_back(link.name);
  return fmt::format("{} %: {} of {}; idlest {} %", percent(most), input::list_of(names, kNamed),
                     run.links.size(), percent(least));
}

std::string busiest_note(const std::vector<run::RunResult>& runs) {
  std::vector<output::TableRow> rows;
  for (const run::RunResult& run : runs)
    if (!run.failure) rows.push_back({"  " + run.label, busiest_text(run)});
  if (rows.empty()) return {};
  std::size_t width = 0;
  for (const output::TableRow& row : rows) width = std::max(width, row[0].size());
  std::string text = "  Busiest link directions, by the share of the time that they move bytes:\n";
  for (const output::TableRow& row : rows)
    text += fmt::format("  {:<{}}  {}\n", row[0], width, row[1]);
  return text;
}

/// How busy HBMs were; empty if transfers take nothing of them.
std::string hbm_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> shares;
  for (const run::RunResult& run : runs)
    if (run.hbm_busy_share && !run.failure)
      shares.push_back(fmt::format("{} {:.0f} %", run.label, 100.0 * *run.hbm_busy_share));
  if (shares.empty()) return {};
  return fmt::format("  HBM, which DMAs and cores share, is busy for: {}.\n",
                     fmt::join(shares, ", "));
}

/// Seconds in which a chip has nothing to do but its collectives.
double collective_time_s(const run::RunResult& run) {
  return run.phase ? run.phase->allreduce_s : run.time_s;
}

/// Whether full queues keep cores from sending while links have little to do. Where links are busy, a full queue
/// only says so once more.
bool stalls(const run::RunResult& run) {
  constexpr double kQueueShare = 0.1;
  constexpr double kBusyLink = 0.75;
  const double time_s = collective_time_s(run);
  if (run.failure || run.core.waits.queue_s < kQueueShare * time_s) return false;
  return std::ranges::all_of(
      run.links, [&](const run::LinkUse& link) { return link.utilisation(time_s) < kBusyLink; });
}

std::string stall_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> shares;
  for (const run::RunResult& run : runs)
    if (stalls(run))
      shares.push_back(fmt::format("{} {:.0f} %", run.label,
                                   100.0 * run.core.waits.queue_s / collective_time_s(run)));
  if (shares.empty()) return {};
  return fmt::format(
      "  Cores wait to send, because the queue to one neighbour is full (dma_queue) while others "
      "are idle, for: {}.\n",
      fmt::join(shares, ", "));
}

/// Which formats have hardly any elements for each scale, so that scales are most of what is sent, and
/// errors are small for that reason alone.
std::string scales_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> few;
  for (const run::RunResult& run : runs)
    if (run.breakdown.scales_s > run.breakdown.payload_s && run.elements_per_scale)
      few.push_back(fmt::format("{} {:.3g}", run.label, *run.elements_per_scale));
  if (few.empty()) return {};
  return fmt::format(
      "  Elements per scale: {}; the tensor is too small for more, so scales take more of the "
      "links than elements.\n",
      fmt::join(few, ", "));
}

/// What a time cannot be below.
std::string bound_note(const config::ExperimentConfig& config) {
  const std::string_view busiest = config.wire_buffers == collectives::WireBuffers::hbm
                                       ? "link direction or HBM"
                                       : "link direction";
  return config.workload ? fmt::format(
                               "  Lower bound: computing, and bytes / bandwidth of the busiest "
                               "{}; their sum if chips are in step.\n",
                               busiest)
                         : fmt::format(
                               "  Lower bound: bytes / bandwidth of the {} that needs "
                               "longest.\n",
                               busiest);
}

/// What is said of the collectives, each line with those that it holds for.
std::string note_of_each(const std::vector<run::RunResult>& runs,
                         const std::function<std::string(const run::RunResult&)>& say) {
  std::string text;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    const std::string said = say(*run);
    const auto same = [&](const run::RunResult& other) { return say(other) == said; };
    if (std::find_if(runs.begin(), run, same) != run) continue;
    std::vector<std::string> labels;
    for (const run::RunResult& other : runs)
      if (same(other)) labels.push_back(other.label);
    text += fmt::format("  {}: {}.\n", said,
                        labels.size() == runs.size() && runs.size() > 1
                            ? "all"
                            : fmt::format("{}", fmt::join(labels, ", ")));
  }
  return text;
}

/// How the collectives were simulated, and by what.
std::string simulation_note(const std::vector<run::RunResult>& runs) {
  return note_of_each(runs,
                      [](const run::RunResult& run) {
                        return fmt::format("Simulated {} ({})",
                                           run.symmetric ? "by representatives" : "chip by chip",
                                           run.simulation_reason);
                      }) +
         note_of_each(runs, [](const run::RunResult& run) {
           return fmt::format("Engine: {} ({})",
                              run.engine == sim::Engine::simgrid ? "SimGrid" : "the direct one",
                              run.engine_reason);
         });
}

/// How the collectives cut their chunks, and why so.
std::string cuts_note(const std::vector<run::RunResult>& runs) {
  return note_of_each(runs, [](const run::RunResult& run) {
    const std::string parts = run.cut ? fmt::format("minishards {}, microshards {}",
                                                    run.cut->minishards, run.cut->microshards)
                                      : "different for chunks of different sizes";
    return fmt::format("Cuts: {} ({})", parts, run.cut_reason);
  });
}

/// What values the errors of a workload are of: they are not the model's.
std::string workload_values_note(const config::TensorConfig& tensor) {
  const std::string of = tensor.files.empty()
                             ? fmt::format("{} values", config::values_name(tensor))
                             : "the values of the files";
  return fmt::format("  They are those of one AllReduce of {}, not of the model's output.\n", of);
}

std::string values_note(const values::ValueResult& values) {
  const std::string what =
      values.sampled_fraction == 1.0
          ? "every element"
          : fmt::format("{:.3g} % of the elements", 100.0 * values.sampled_fraction);
  return fmt::format("  MSE, SQNR: computed on {}, against the exact sum of all ranks.\n", what);
}

}  // namespace

std::string to_table(const run::ExperimentResult& result) {
  const config::ExperimentConfig& config = result.config;
  const bool uncertain = result.runs.front().uncertainty.has_value();
  std::vector<output::TableRow> rows = {
      headings(config.workload.has_value(), config.numerics, uncertain)};
  for (const run::RunResult& run : result.runs) rows.push_back(row_of(run, uncertain));
  std::string text = title(result) + output::aligned_table(rows) + '\n';
  if (!result.operations.empty()) text += operations_table(result) + workload_note(result);
  for (const run::RunResult& run : result.runs)
    if (run.failure) text += failure_note(run);
  const auto ring_fails = [](const run::RunResult& run) {
    return run.failure && run.algorithm != nullptr &&
           run.algorithm->layout == collectives::RankLayout::ring;
  };
  if (std::ranges::any_of(result.runs, ring_fails))
    text += "  A ring can be planned around a cable: name it in /topology/avoid.\n";
  for (const run::RunResult& run : result.runs)
    if (!run.candidates.empty()) text += candidates_note(run);
  text += bound_note(config);
  text += cuts_note(result.runs);
  text += simulation_note(result.runs);
  text += busiest_note(result.runs);
  text += stall_note(result.runs);
  text += hbm_note(result.runs);
  text += scales_note(result.runs);
  text += trust_note(result);
  if (config.numerics) text += values_note(*result.runs.front().numerics);
  if (config.numerics && config.workload) text += workload_values_note(config.tensor);
  text += sensitivity_table(result);
  return text;
}

}  // namespace equarx::result
