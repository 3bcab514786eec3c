#include "experiments/tune/space.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/arithmetic_json.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::tune {
namespace {

using collectives::Phase;

constexpr std::array kStyles = {collectives::RingStyle::full_loop,
                                collectives::RingStyle::semi_loop};
constexpr std::array kQuantizePhases = {config::QuantizedPhases::both,
                                        config::QuantizedPhases::reduce_scatter,
                                        config::QuantizedPhases::all_gather};

/// Arithmetics that keep promises which the default breaks.
const std::array kArithmetics = {
    config::ArithmeticConfig{.preset = {}, .round = config::RoundSums::once},
    config::ArithmeticConfig{.preset = {}, .order = collectives::SumOrder::ranks}};

/// Excluded unless named: OFP8 and mxfp6-e2m3 have the same size and nearly the same error.
constexpr std::array<std::string_view, 3> kOnlyIfNamed = {"fp8-e4m3fnuz", "fp8-e5m2fnuz", "int6"};

config::NamedBlockFormat format_named(std::string_view given) {
  const std::string_view wanted = config::format_name(given);
  std::vector<std::string_view> names;
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    if (named.name == wanted && numerics::has_shared_scale(named.format))
      throw input::InputError("--formats",
                              fmt::format("'{}' shares one scale between all ranks and has no "
                                          "error prediction; use it in a configuration with `run`",
                                          named.name));
    if (named.name == wanted) return {std::string(named.name), named.format};
    names.push_back(named.name);
  }
  throw input::InputError("--formats", fmt::format("'{}' is not known; {}", wanted,
                                                   input::remedy_of_all(wanted, names)));
}

// --- Link loads of a scheme

/// Load of a rank on a channel.
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

std::vector<LinkLoad> link_loads(const plan::CollectivePlan& plan, double step_sync_s) {
  const sim::Machine& machine = plan.simulated.machine();
  const bool uniform = collectives::is_uniform(plan.program);
  std::vector<LinkLoad> loads(machine.links.size());
  std::vector<ChannelLoad> channels = channel_loads(plan.program, 0);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    if (!uniform && rank > 0) channels = channel_loads(plan.program, rank);
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      const sim::OutPort& port = machine.out_ports[rank][channel];
      const double held_bytes =
          std::max(0.0, step_sync_s * sim::bottleneck_rate(machine, port.route) -
                            sim::kHeldLinkRoundingBytes);
      for (const sim::LinkIndex index : port.route) {
        if (index >= machine.cables()) continue;  // HBM, shared with cores
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

/// Plans the scheme with the fewest messages that fit into the chips' memory.
plan::Expected<plan::CollectivePlan> pilot(const config::ExperimentConfig& config,
                                           config::CollectiveConfig collective) {
  plan::Expected<plan::CollectivePlan> found = plan::infeasible("", "");
  for (std::size_t i = kElementsPerScale.size(); i-- > 0;) {
    collective.elements_per_scale = kElementsPerScale[i];
    found = plan::try_plan(with_collective(config, collective)).map([](plan::Plan&& plan) {
      return std::move(plan.collectives.front().candidates.front());
    });
    if (found) break;
  }
  return found;
}

/// `scaled`: for scaled formats
plan::Expected<TuneScheme> make_scheme(const config::ExperimentConfig& config,
                                       config::Algorithm algorithm, collectives::RingStyle ring,
                                       bool scaled) {
  config::CollectiveConfig collective;
  collective.label = "pilot";
  collective.algorithm = algorithm;
  collective.ring = ring;
  collective.microshards = 1;
  collective.cuts = config::CutMode::by_size;
  if (scaled) collective.format = format_named("int8");
  return pilot(config, collective).map([&](const plan::CollectivePlan& plan) {
    return TuneScheme{algorithm, ring, plan.program.partition,
                      link_loads(plan, config.chip.step_sync_time.value)};
  });
}

// --- Families of a scheme

/// Minishards of every chunk size.
std::vector<std::uint32_t> minishards_by_chunk(const TuneScheme& scheme,
                                               const config::CollectiveConfig& collective) {
  std::vector<std::uint32_t> minishards;
  for_each_chunk(scheme.partition, [&](std::uint64_t elements) {
    minishards.push_back(minishards_of(collective, elements));
  });
  return minishards;
}

class Enumeration {
 public:
  Enumeration(const config::ExperimentConfig& config,
              const std::vector<config::NamedBlockFormat>& formats, bool arithmetics)
      : config_(config), formats_(formats), arithmetics_(arithmetics) {}

  TuneSpace run() {
    const bool with_network = config_.topology.network.has_value();
    for (const config::Algorithm algorithm :
         config::tried_algorithms(config_.collective, with_network)) {
      if (!plan::is_considered(algorithm, config_.topology)) continue;
      for (const collectives::RingStyle ring : kStyles)
        if (ring == kStyles.front() || config::has_ring_style(algorithm))
          add_scheme(algorithm, ring);
    }
    if (!space_.candidates.empty()) return std::move(space_);
    const bool obstacle = !space_.infeasible_schemes.empty();
    throw input::InputError("/topology", obstacle
                                             ? fmt::format("no algorithm can run: {}: {}",
                                                           space_.infeasible_schemes.front().scheme,
                                                           space_.infeasible_schemes.front().reason)
                                             : "no algorithm can run with these formats");
  }

 private:
  void add_scheme(config::Algorithm algorithm, collectives::RingStyle ring) {
    const std::string text = config::has_ring_style(algorithm)
                                 ? fmt::format("{} {}", algorithm->name, collectives::name(ring))
                                 : std::string(algorithm->name);
    const std::string obstacle = plan::why_not(algorithm, config_);
    if (!obstacle.empty()) {
      if (ring == kStyles.front())
        space_.infeasible_schemes.push_back({std::string(algorithm->name), obstacle});
      return;
    }
    const bool quantizes = config::can_be_quantized(algorithm);
    // On several axes quantized and plain collectives split the tensor into different segments.
    const bool split = quantizes && (algorithm->layout == collectives::RankLayout::grid ||
                                     algorithm->layout == collectives::RankLayout::slices_of_grids);
    const auto all = [](const config::NamedBlockFormat&) { return true; };
    if (!split) return add_scheme(algorithm, ring, quantizes, text, all);
    for (const bool scaled : {true, false})
      add_scheme(algorithm, ring, scaled, text,
                 [&](const config::NamedBlockFormat& format) { return format.scaled == scaled; });
  }

  template <typename Takes>
  void add_scheme(config::Algorithm algorithm, collectives::RingStyle ring, bool scaled,
                  const std::string& text, Takes takes) {
    const auto fits = [&](const config::NamedBlockFormat& format) {
      return takes(format) && config::fits_format(algorithm, format);
    };
    if (std::ranges::none_of(formats_, fits)) return;
    plan::Expected<TuneScheme> scheme = make_scheme(config_, algorithm, ring, scaled);
    if (!scheme) {
      if (space_.infeasible_schemes.empty() || space_.infeasible_schemes.back().scheme != text)
        space_.infeasible_schemes.push_back({text, scheme.error().text()});
      return;
    }
    space_.schemes.push_back(*std::move(scheme));
    for (const config::NamedBlockFormat& format : formats_)
      if (fits(format)) add_format(format);
  }

  /// Adds the families of a format to the last scheme.
  void add_format(const config::NamedBlockFormat& format) {
    const TuneScheme& scheme = space_.schemes.back();
    config::CollectiveConfig collective;
    collective.algorithm = scheme.algorithm;
    collective.ring = scheme.ring;
    collective.format = format;
    collective.microshards = 1;
    collective.cuts = config::CutMode::by_size;
    if (!format.scaled) return add_family(collective);
    const bool phases = config_.collective == collectives::Collective::all_reduce &&
                        config::has_two_phases(scheme.algorithm);
    for (const config::QuantizedPhases quantize : kQuantizePhases) {
      if (quantize != kQuantizePhases.front() && !phases) continue;
      collective.quantize = quantize;
      add_tilings(collective);
    }
  }

  void add_tilings(config::CollectiveConfig collective) {
    std::vector<std::vector<std::uint32_t>> known;
    for (const std::uint32_t elements : kElementsPerScale) {
      collective.elements_per_scale = elements;
      std::vector<std::uint32_t> minishards =
          minishards_by_chunk(space_.schemes.back(), collective);
      if (std::ranges::find(known, minishards) != known.end()) {
        space_.duplicates += kMicroshards.size();
        continue;
      }
      known.push_back(std::move(minishards));
      add_family(collective);
    }
  }

  void add_family(config::CollectiveConfig collective) {
    add_one_family(collective);
    if (!arithmetics_) return;
    for (const config::ArithmeticConfig& arithmetic : kArithmetics) {
      collective.arithmetic = arithmetic;
      if (config::has_arithmetic(collective, config_.collective)) add_one_family(collective);
    }
  }

  void add_one_family(const config::CollectiveConfig& collective) {
    for (const std::uint32_t microshards : kMicroshards)
      space_.candidates.push_back({space_.families.size(), microshards});
    space_.families.push_back({space_.schemes.size() - 1, collective});
  }

  const config::ExperimentConfig& config_;
  const std::vector<config::NamedBlockFormat>& formats_;
  bool arithmetics_;
  TuneSpace space_;
};

std::string label_of(const config::CollectiveConfig& collective) {
  std::string text(config::algorithm_name(collective.algorithm));
  if (config::has_ring_style(collective.algorithm))
    text += fmt::format(" {}", collectives::name(collective.ring));
  text += fmt::format(" {}", collective.format.name);
  if (collective.format.scaled && config::has_two_phases(collective.algorithm) &&
      collective.quantize != config::QuantizedPhases::both)
    text +=
        collective.quantize == config::QuantizedPhases::reduce_scatter ? " RS only" : " AG only";
  for (const std::string& word : config::arithmetic_words(collective.arithmetic))
    text += fmt::format(" {}", word);
  return text;
}

}  // namespace

std::vector<config::NamedBlockFormat> tune_formats(const std::vector<std::string>& names) {
  std::vector<config::NamedBlockFormat> formats;
  if (names.empty()) {
    for (const numerics::NamedFormat& named : numerics::named_formats())
      if (named.format.scaled && named.format.rule == numerics::ScaleRule::amax &&
          std::ranges::find(kOnlyIfNamed, named.name) == kOnlyIfNamed.end())
        formats.emplace_back(std::string(named.name), named.format);
    for (const std::string_view plain : {"bf16", "fp32"}) formats.push_back(format_named(plain));
    return formats;
  }
  for (const std::string& name : names) {
    if (std::ranges::find(formats, name, &config::NamedBlockFormat::name) != formats.end())
      throw input::InputError("--formats", fmt::format("'{}' is named twice; name it once", name));
    formats.push_back(format_named(name));
  }
  return formats;
}

TuneSpace enumerate(const config::ExperimentConfig& config,
                    const std::vector<config::NamedBlockFormat>& formats, bool arithmetics) {
  return Enumeration(config, formats, arithmetics).run();
}

config::ExperimentConfig with_collective(const config::ExperimentConfig& config,
                                         const config::CollectiveConfig& collective) {
  config::ExperimentConfig one = config;
  one.collectives = {collective};
  one.baseline = 0;
  one.numerics = false;
  return one;
}

std::size_t first_candidate(std::size_t family) { return family * kMicroshards.size(); }

config::CollectiveConfig config_of(const TuneSpace& space, const TuneCandidate& candidate) {
  config::CollectiveConfig collective = space.families[candidate.family].config;
  collective.microshards = candidate.microshards;
  collective.label = label_of(collective);
  return collective;
}

std::uint32_t minishards_of(const config::CollectiveConfig& collective, std::uint64_t elements) {
  return collectives::choose_cut(
             {std::nullopt, collective.microshards, collective.elements_per_scale},
             collective.format, elements)
      .minishards;
}

}  // namespace equarx::tune
