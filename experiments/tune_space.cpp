#include "experiments/tune_space.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiments/algorithms.hpp"
#include "experiments/config_json.hpp"
#include "experiments/input_error.hpp"
#include "experiments/nearest.hpp"
#include "experiments/plan.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::experiments {
namespace {

using collectives::Phase;

constexpr std::array kStyles = {collectives::RingStyle::full_loop,
                                collectives::RingStyle::semi_loop};
constexpr std::array kQuantizePhases = {QuantizedPhases::both, QuantizedPhases::reduce_scatter,
                                        QuantizedPhases::all_gather};

NamedBlockFormat format_named(std::string_view wanted) {
  std::vector<std::string_view> names;
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    if (named.name == wanted) return {std::string(named.name), named.format};
    names.push_back(named.name);
  }
  throw InputError("--formats", fmt::format("'{}' is not known; did you mean '{}'? There are {}",
                                            wanted, nearest(wanted, names), list_of(names)));
}

// --- What a scheme puts on the links

/// What a rank sends over a channel.
struct ChannelLoad {
  std::array<double, collectives::kPhases> elements{};
  std::array<double, collectives::kPhases> synchronisations{};
};

std::vector<ChannelLoad> channel_loads(const collectives::Program& program,
                                       collectives::Rank rank) {
  std::vector<ChannelLoad> loads(program.channels.size());
  for (const collectives::Instruction& instruction : program.instructions) {
    if (instruction.op != collectives::Op::send || !instruction.ranks.contains(rank)) continue;
    const collectives::Message& message = program.messages[instruction.message];
    const collectives::Buffer& buffer = program.buffers[message.buffer];
    const auto phase = static_cast<std::size_t>(buffer.phase);
    ChannelLoad& load = loads[message.channel];
    if (message.synchronises) load.synchronisations[phase] += 1.0;
    if (buffer.content != collectives::Content::payload) continue;
    const std::uint64_t makers = program.grid().span(message.origin.gathered);
    load.elements[phase] +=
        static_cast<double>(makers * program.partition.microshard(buffer.tile).size());
  }
  return loads;
}

double slowest_rate(const sim::Machine& machine, const sim::Way& way) {
  double rate = machine.links[way.route.front()].rate;
  for (const sim::LinkIndex link : way.route) rate = std::min(rate, machine.links[link].rate);
  return rate;
}

std::vector<LinkLoad> link_loads(const CollectivePlan& plan, double step_sync_s) {
  constexpr double kRoundedBytes = 0.5;  // a synchronisation is simulated as whole bytes
  const sim::Machine& machine = plan.simulated.machine;
  const bool uniform = collectives::is_uniform(plan.program);
  std::vector<LinkLoad> loads(machine.links.size());
  std::vector<ChannelLoad> channels = channel_loads(plan.program, 0);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    if (!uniform && rank > 0) channels = channel_loads(plan.program, rank);
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      const sim::Way& way = machine.ways[rank][channel];
      const double held_bytes =
          std::max(0.0, step_sync_s * slowest_rate(machine, way) - kRoundedBytes);
      for (const sim::LinkIndex index : way.route) {
        LinkLoad& load = loads[index];
        load.rate = machine.links[index].rate;
        for (std::size_t phase = 0; phase < collectives::kPhases; ++phase) {
          load.elements[phase] += channels[channel].elements[phase];
          load.sync_s[phase] += channels[channel].synchronisations[phase] * held_bytes / load.rate;
        }
      }
    }
  }
  std::erase_if(loads, [](const LinkLoad& load) { return load.rate == 0.0; });
  return loads;
}

/// A program of the scheme with as few messages as the chips' memory allows.
CollectivePlan pilot(const ExperimentConfig& config, CollectiveConfig collective) {
  std::optional<InputError> obstacle;
  for (std::size_t i = kElementsPerScale.size(); i-- > 0;) {
    collective.elements_per_scale = kElementsPerScale[i];
    try {
      return make_plan(with_collective(config, collective)).collectives.front().candidates.front();
    } catch (const InputError& error) {
      obstacle = error;
    }
  }
  throw InputError(*obstacle);
}

TuneScheme make_scheme(const ExperimentConfig& config, Algorithm algorithm,
                       collectives::RingStyle ring) {
  CollectiveConfig collective;
  collective.label = "pilot";
  collective.algorithm = algorithm;
  collective.ring = ring;
  collective.microshards = 1;
  if (can_be_quantized(config.collective, algorithm)) collective.format = format_named("int8");
  const CollectivePlan plan = pilot(config, collective);
  return {algorithm, ring, plan.program.partition,
          link_loads(plan, config.chip.step_sync_time.value)};
}

// --- Families of a scheme

/// Minishards of every kind of chunk.
std::vector<std::uint32_t> cuts(const TuneScheme& scheme, const CollectiveConfig& collective) {
  std::vector<std::uint32_t> minishards;
  for_each_chunk(scheme.partition, [&](std::uint64_t elements) {
    minishards.push_back(minishards_of(collective, elements));
  });
  return minishards;
}

class Enumeration {
 public:
  Enumeration(const ExperimentConfig& config, const std::vector<NamedBlockFormat>& formats)
      : config_(config), formats_(formats) {}

  TuneSpace run() {
    for (const Algorithm algorithm : algorithms_of(config_.collective)) {
      if (algorithm == Algorithm::automatic) continue;
      for (const collectives::RingStyle ring : kStyles)
        if (ring == kStyles.front() || has_ring_style(algorithm)) add_scheme(algorithm, ring);
    }
    if (!space_.candidates.empty()) return std::move(space_);
    const bool obstacle = !space_.unsuited.empty();
    throw InputError("/topology", obstacle ? fmt::format("no algorithm can run: {}: {}",
                                                         space_.unsuited.front().scheme,
                                                         space_.unsuited.front().reason)
                                           : "no algorithm can run with these formats");
  }

 private:
  void add_scheme(Algorithm algorithm, collectives::RingStyle ring) {
    const std::string text = has_ring_style(algorithm)
                                 ? fmt::format("{} {}", name(algorithm), collectives::name(ring))
                                 : std::string(name(algorithm));
    const std::string obstacle = why_not(algorithm, config_);
    if (!obstacle.empty()) {
      if (ring == kStyles.front())
        space_.unsuited.push_back({std::string(name(algorithm)), obstacle});
      return;
    }
    if (std::ranges::none_of(formats_, [&](const NamedBlockFormat& format) {
          return has_format(algorithm, format);
        }))
      return;
    try {
      space_.schemes.push_back(make_scheme(config_, algorithm, ring));
    } catch (const InputError& error) {
      space_.unsuited.push_back({text, error.what()});
      return;
    }
    for (const NamedBlockFormat& format : formats_)
      if (has_format(algorithm, format)) add_format(format);
  }

  bool has_format(Algorithm algorithm, const NamedBlockFormat& format) const {
    return format.scaled ? can_be_quantized(config_.collective, algorithm)
                         : can_be_plain(algorithm);
  }

  /// To the last scheme.
  void add_format(const NamedBlockFormat& format) {
    const TuneScheme& scheme = space_.schemes.back();
    CollectiveConfig collective;
    collective.algorithm = scheme.algorithm;
    collective.ring = scheme.ring;
    collective.format = format;
    collective.microshards = 1;
    if (!format.scaled) return add_family(collective);
    const bool phases = config_.collective == collectives::Collective::all_reduce &&
                        has_two_phases(scheme.algorithm);
    for (const QuantizedPhases quantize : kQuantizePhases) {
      if (quantize != kQuantizePhases.front() && !phases) continue;
      collective.quantize = quantize;
      add_cuts(collective);
    }
  }

  void add_cuts(CollectiveConfig collective) {
    std::vector<std::vector<std::uint32_t>> known;
    for (const std::uint32_t elements : kElementsPerScale) {
      collective.elements_per_scale = elements;
      std::vector<std::uint32_t> minishards = cuts(space_.schemes.back(), collective);
      if (std::ranges::find(known, minishards) != known.end()) {
        space_.duplicates += kMicroshards.size();
        continue;
      }
      known.push_back(std::move(minishards));
      add_family(collective);
    }
  }

  void add_family(const CollectiveConfig& collective) {
    for (const std::uint32_t microshards : kMicroshards)
      space_.candidates.push_back({space_.families.size(), microshards});
    space_.families.push_back({space_.schemes.size() - 1, collective});
  }

  const ExperimentConfig& config_;
  const std::vector<NamedBlockFormat>& formats_;
  TuneSpace space_;
};

std::string label_of(const CollectiveConfig& collective) {
  std::string text(name(collective.algorithm));
  if (has_ring_style(collective.algorithm))
    text += fmt::format(" {}", collectives::name(collective.ring));
  text += fmt::format(" {}", collective.format.name);
  if (collective.format.scaled && has_two_phases(collective.algorithm) &&
      collective.quantize != QuantizedPhases::both)
    text += fmt::format(" {} only", name(collective.quantize));
  return text;
}

}  // namespace

std::vector<NamedBlockFormat> tune_formats(const std::vector<std::string>& names) {
  std::vector<NamedBlockFormat> formats;
  if (names.empty()) {
    for (const numerics::NamedFormat& named : numerics::named_formats())
      if (named.format.scaled) formats.emplace_back(std::string(named.name), named.format);
    for (const std::string_view plain : {"bf16", "fp32"}) formats.push_back(format_named(plain));
    return formats;
  }
  for (const std::string& name : names) {
    if (std::ranges::find(formats, name, &NamedBlockFormat::name) != formats.end())
      throw InputError("--formats", fmt::format("'{}' is there twice; name it once", name));
    formats.push_back(format_named(name));
  }
  return formats;
}

TuneSpace enumerate(const ExperimentConfig& config, const std::vector<NamedBlockFormat>& formats) {
  const auto algorithms = algorithms_of(config.collective);
  if (std::ranges::none_of(algorithms, [&](Algorithm algorithm) {
        return algorithm != Algorithm::automatic && can_be_quantized(config.collective, algorithm);
      }))
    throw InputError(
        "/collective",
        fmt::format("{} moves values and sums none, so it cannot be quantized and there "
                    "is nothing to tune; use all-reduce, reduce-scatter or all-gather",
                    collectives::name(config.collective)));
  return Enumeration(config, formats).run();
}

ExperimentConfig with_collective(const ExperimentConfig& config,
                                 const CollectiveConfig& collective) {
  ExperimentConfig one = config;
  one.collectives = {collective};
  one.baseline = 0;
  one.numerics = false;
  return one;
}

CollectiveConfig config_of(const TuneSpace& space, const TuneCandidate& candidate) {
  CollectiveConfig collective = space.families[candidate.family].config;
  collective.microshards = candidate.microshards;
  collective.label = label_of(collective);
  return collective;
}

numerics::BlockFormat wire_format(const CollectiveConfig& collective, Phase phase,
                                  numerics::ElementFormat dtype) {
  const QuantizedPhases other = phase == Phase::reduce_scatter ? QuantizedPhases::all_gather
                                                               : QuantizedPhases::reduce_scatter;
  if (collective.format.scaled && collective.quantize == other) return {.element = dtype};
  return collective.format;
}

std::uint32_t minishards_of(const CollectiveConfig& collective, std::uint64_t elements) {
  return collectives::choose_cut(
             {std::nullopt, collective.microshards, collective.elements_per_scale},
             collective.format, elements)
      .minishards;
}

}  // namespace equarx::experiments
