#include "experiments/advise/gates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/units/quantity.hpp"
#include "experiments/advise/formats.hpp"
#include "experiments/advise/sizes.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/run/varied.hpp"
#include "experiments/tune/space.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::advise {
namespace {

/// Formats of the codecs if nothing names them.
const std::vector<std::string> kDefaultFormats = {"int8", "fp8-e4m3", "int4"};

config::CollectiveConfig fastest_in(const config::NamedBlockFormat& format) {
  config::CollectiveConfig collective;
  collective.label = format.name;
  collective.algorithm = config::kAutomatic;
  collective.format = format;
  return collective;
}

/// The plain collectives: without NCCL's protocols, and with them where a chip has any.
std::vector<config::CollectiveConfig> plain_collectives(const config::ExperimentConfig& config) {
  const std::string own(numerics::name(config.tensor.dtype));
  const config::CollectiveConfig plain = fastest_in(tune::tune_formats({own}).front());
  config::CollectiveConfig with_protocol = plain;
  with_protocol.label += ", NCCL protocols";
  with_protocol.protocol = std::nullopt;
  const bool has_protocols =
      plan::try_plan(at_size(tune::with_collective(config, with_protocol), kErrorBytes),
                     plan::RunProfile::batch)
          .has_value();
  if (!has_protocols) return {plain};
  return {plain, with_protocol};
}

/// The plain collectives, then the codecs.
std::vector<config::CollectiveConfig> collectives_of(const config::ExperimentConfig& config,
                                                     const std::vector<std::string>& formats) {
  std::vector<config::CollectiveConfig> all = plain_collectives(config);
  const std::size_t plain = all.size();
  if (formats.empty())
    std::ranges::copy_if(config.collectives, std::back_inserter(all),
                         [](const auto& one) { return one.format.scaled; });
  if (all.size() > plain) return all;
  for (const config::NamedBlockFormat& format :
       tune::tune_formats(scaled_formats(formats.empty() ? kDefaultFormats : formats)))
    all.push_back(fastest_in(format));
  return all;
}

/// All collectives at one size.
struct AtSize {
  std::uint64_t bytes = 0;
  run::ExperimentResult nominal;
  std::vector<std::vector<variation::Timing>> samples;  ///< by sample and collective
};

bool is_plain(const config::CollectiveConfig& collective) { return !collective.format.scaled; }

/// Speedup of a codec over the fastest plain collective. `timings`: by collective, plain ones first
double speedup_of(const std::vector<variation::Timing>& timings, std::size_t codec,
                  std::size_t plain) {
  double least = timings.front().time_s;
  for (std::size_t i = 1; i < plain; ++i) least = std::min(least, timings[i].time_s);
  return timings[codec].speedup * least / timings.front().time_s;
}

/// Timings on the nominal machine.
std::vector<variation::Timing> timings_of(const run::ExperimentResult& result) {
  std::vector<variation::Timing> timings;
  for (const run::RunResult& run : result.runs)
    timings.push_back({run.time_s, run.speedup.value_or(0.0)});
  return timings;
}

/// Smallest size from which all speedups exceed 1. `speedups`: by size
GateSize gate_of(const std::vector<AtSize>& sizes, const std::vector<double>& speedups) {
  std::vector<SizeGain> gains;
  for (std::size_t i = 0; i < sizes.size(); ++i) gains.push_back({sizes[i].bytes, speedups[i]});
  const std::optional<SizeGain> from = break_even_size(gains);
  return from ? GateSize(from->bytes) : std::nullopt;
}

class Finder {
 public:
  Finder(const config::ExperimentConfig& config, const run::Progress& progress)
      : config_(config),
        plain_(static_cast<std::size_t>(std::ranges::count_if(config.collectives, is_plain))),
        progress_(progress) {}

  /// Number of plain collectives, which are the first.
  std::size_t plain() const { return plain_; }

  /// Simulates all sizes at which all collectives can run.
  void run() {
    std::string obstacle;
    for (const std::uint64_t bytes : gain_sizes()) {
      progress_(fmt::format("{} ranks, {}", config::count_chips(config_.topology),
                            units::bytes_text(static_cast<double>(bytes))));
      const plan::Expected<plan::Plan> plan =
          plan::try_plan(at_size(config_, bytes), plan::RunProfile::batch);
      if (!plan) {
        obstacle = plan.error().text();
        continue;
      }
      AtSize size{bytes, run::run_experiment(*plan, [](const std::string&) {}), {}};
      config::UncertaintyConfig requested = config_.uncertainty;
      requested.request();
      size.samples = variation::sample(run::varied_runs(size.nominal, 0), requested,
                                       [](const std::string&) {});
      sizes_.push_back(std::move(size));
    }
    if (sizes_.empty()) throw input::InputError("", obstacle);
  }

  Gate gate(std::size_t codec) const {
    std::vector<double> speedups;
    for (const AtSize& size : sizes_)
      speedups.push_back(speedup_of(timings_of(size.nominal), codec, plain_));
    Gate gate;
    gate.codec = config_.collectives[codec].label;
    gate.format = config_.collectives[codec].format.name;
    gate.from = gate_of(sizes_, speedups);
    gate.speedup = speedups.back();
    const auto at = std::ranges::find_if(
        sizes_, [&](const AtSize& size) { return gate.from && size.bytes == *gate.from; });
    const AtSize& shown = at == sizes_.end() ? sizes_.back() : *at;
    gate.algorithm = shown.nominal.runs[codec].algorithm->name;
    gate.interval = interval(codec);
    return gate;
  }

 private:
  std::optional<std::pair<GateSize, GateSize>> interval(std::size_t codec) const {
    std::size_t samples = std::numeric_limits<std::size_t>::max();
    for (const AtSize& size : sizes_) samples = std::min(samples, size.samples.size());
    if (samples == 0) return std::nullopt;
    std::vector<double> gates;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      std::vector<double> speedups;
      for (const AtSize& size : sizes_)
        speedups.push_back(speedup_of(size.samples[sample], codec, plain_));
      const GateSize gate = gate_of(sizes_, speedups);
      gates.push_back(gate ? static_cast<double>(*gate) : std::numeric_limits<double>::infinity());
    }
    return std::pair(quantile(gates, variation::kBelowInterval),
                     quantile(gates, 1.0 - variation::kBelowInterval));
  }

  /// The nearest of the sizes, which are not interpolated.
  static GateSize quantile(std::vector<double> gates, double share) {
    std::ranges::sort(gates);
    const auto last = static_cast<double>(gates.size() - 1);
    const double gate = gates[static_cast<std::size_t>(std::lround(share * last))];
    return gate < std::numeric_limits<double>::infinity()
               ? GateSize(static_cast<std::uint64_t>(gate))
               : std::nullopt;
  }

  const config::ExperimentConfig& config_;
  std::size_t plain_;
  const run::Progress& progress_;
  std::vector<AtSize> sizes_;
};

/// Errors of all collectives at kErrorBytes.
std::vector<double> errors_of(const config::ExperimentConfig& config) {
  config::ExperimentConfig small = at_size(config, kErrorBytes);
  small.numerics = true;
  small.tensor.sample = config::small_sample(small.tensor.elements);
  const run::ExperimentResult result = run::run_experiment(
      plan::make_plan(small, plan::RunProfile::batch), [](const std::string&) {});
  std::vector<double> errors;
  for (const run::RunResult& run : result.runs)
    errors.push_back(run.numerics->against_exact.comparable_nmse());
  return errors;
}

}  // namespace

MachineGates find_gates(const config::ExperimentConfig& config,
                        const std::vector<std::string>& formats, const run::Progress& progress) {
  MachineGates machine{
      .config = config, .ranks = config::count_chips(config.topology), .gates = {}, .why_not = {}};
  machine.config.collectives = collectives_of(config, formats);
  machine.config.baseline = 0;
  machine.config.numerics = false;
  Finder finder(machine.config, progress);
  finder.run();
  const std::vector<double> errors = errors_of(machine.config);
  for (std::size_t codec = finder.plain(); codec < machine.config.collectives.size(); ++codec) {
    machine.gates.push_back(finder.gate(codec));
    machine.gates.back().nmse = errors[codec];
  }
  return machine;
}

}  // namespace equarx::advise
