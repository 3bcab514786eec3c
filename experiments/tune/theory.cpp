#include "experiments/tune/theory.hpp"

#include <algorithm>
#include <vector>

#include "experiments/config/algorithm.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::tune {
namespace {

using collectives::Phase;

/// Smallest scale group of a kind of chunk.
std::uint64_t group_elements(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                             std::uint32_t segment, std::uint32_t uncut) {
  if (collective.format.layout == numerics::ScaleLayout::contiguous) return collective.format.block;
  const std::uint64_t chunk = scheme.partition.chunk_elements(segment, uncut);
  const std::uint64_t minishard = chunk / minishards_of(collective, chunk);
  return std::max<std::uint64_t>(1, minishard / numerics::kRegisterElements);
}

/// Largest code of a format whose error has a closed form; 0 of others.
double largest_code(const numerics::BlockFormat& format) {
  if (format.scale != numerics::ScaleFormat::fp32) return 0.0;
  if (format.element == numerics::ElementFormat::int8) return numerics::kInt8LargestCode;
  return format.element == numerics::ElementFormat::int4 ? numerics::kInt4LargestCode : 0.0;
}

/// What a ReduceScatter quantizes in one segment; its stages are those of the segment's axes.
numerics::Edges edges_of(const TuneScheme& scheme, std::uint32_t segment) {
  const collectives::RankGrid& grid = scheme.partition.grid();
  switch (scheme.algorithm) {
    case Algorithm::one_shot: return numerics::one_shot_edges(grid.ranks());
    case Algorithm::two_shot:
    case Algorithm::direct: return numerics::direct_edges(grid.ranks());
    case Algorithm::recursive_doubling: return numerics::recursive_doubling_edges(grid.ranks());
    default: break;
  }
  std::vector<std::uint32_t> lengths;
  for (const std::size_t axis : scheme.partition.segment(segment).axes)
    lengths.push_back(grid.length(axis));
  const bool full_loop = scheme.ring == collectives::RingStyle::full_loop;
  return numerics::torus_edges(lengths,
                               full_loop ? numerics::full_loop_edges : numerics::semi_loop_edges);
}

}  // namespace

ErrorTheory::ErrorTheory(const config::ExperimentConfig& config) : config_(config) {}

std::optional<ErrorPrediction> ErrorTheory::predict(const TuneScheme& scheme,
                                                    const config::CollectiveConfig& collective) {
  const config::TensorConfig& tensor = config_.tensor;
  const bool normal = tensor.files.empty() && !tensor.values.identical_ranks &&
                      tensor.values.distribution == numerics::Distribution::normal;
  if (!normal || !collective.format.scaled) return std::nullopt;
  const std::uint32_t segments = scheme.partition.segments();
  ErrorPrediction prediction;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const ErrorPrediction part = predict_segment(scheme, collective, segment);
    prediction.nmse += part.nmse / segments;
    prediction.floor += part.floor / segments;
  }
  return prediction;
}

ErrorPrediction ErrorTheory::predict_segment(const TuneScheme& scheme,
                                             const config::CollectiveConfig& collective,
                                             std::uint32_t segment) {
  const numerics::ElementFormat dtype = config_.tensor.dtype;
  const bool reduces = config_.collective != collectives::Collective::all_gather &&
                       config::wire_format(collective, Phase::reduce_scatter, dtype).scaled;
  const bool gathers = config::has_two_phases(scheme.algorithm) &&
                       config_.collective != collectives::Collective::reduce_scatter &&
                       config::wire_format(collective, Phase::all_gather, dtype).scaled;
  const std::vector<Edges> edges =
      reduces ? edges_of(scheme, collective, segment) : std::vector<Edges>();
  const auto ranks = static_cast<double>(scheme.partition.grid().ranks());
  const double own =
      quantizer_nmse(collective.format, group_elements(scheme, collective, segment, /*uncut=*/0));
  double error = 0.0;  // in units of one rank's power
  double floor = 0.0;
  double arm_error = 0.0;
  double last = 0.0;
  for (const Edges& edge : edges) {
    if (edge.summed <= last) arm_error = 0.0;
    last = edge.summed;
    // What a message has gathered of errors along its arm is quantized with it.
    const double added = edge.quantizer_nmse * (edge.summed + arm_error);
    arm_error += added;
    error += edge.count * added;
    floor += edge.count * std::min(edge.quantizer_nmse * edge.summed, 1.0);
  }
  if (gathers) {
    error += own * (ranks + error);
    floor += reduces ? std::min(own * ranks, 1.0) : own * ranks;
  }
  return {error / ranks, floor / ranks / kMargin};
}

std::vector<ErrorTheory::Edges> ErrorTheory::edges_of(const TuneScheme& scheme,
                                                      const config::CollectiveConfig& collective,
                                                      std::uint32_t segment) {
  const collectives::RankGrid& grid = scheme.partition.grid();
  const auto c = [&](std::uint32_t uncut) {
    return quantizer_nmse(collective.format, group_elements(scheme, collective, segment, uncut));
  };
  const double ranks = grid.ranks();
  const std::string_view algorithm = scheme.algorithm->name;
  if (algorithm == "one-shot") return {{c(0), 1.0, ranks}};
  if (scheme.algorithm->layout == collectives::RankLayout::any) return {{c(0), 1.0, ranks - 1.0}};
  std::vector<Edges> edges;
  if (algorithm == "recursive-doubling") {
    for (std::uint32_t summed = 1; summed < grid.ranks(); summed *= 2)
      edges.push_back({c(0), static_cast<double>(summed), ranks / summed});
    return edges;
  }
  const auto ring = scheme.ring == collectives::RingStyle::full_loop ? numerics::full_loop_messages
                                                                     : numerics::semi_loop_messages;
  const std::vector<std::size_t>& axes = scheme.partition.segment(segment).axes;
  double summed = 1.0;  // ranks in each term of a stage
  for (std::size_t stage = 0; stage < axes.size(); ++stage) {
    const std::uint32_t length = grid.length(axes[stage]);
    const double once = c(static_cast<std::uint32_t>(axes.size() - 1 - stage));
    for (const std::uint32_t terms : ring(length))
      edges.push_back({once, summed * terms, ranks / summed / length});
    summed *= length;
  }
  return edges;
}

double ErrorTheory::quantizer_nmse(const config::NamedBlockFormat& format, std::uint64_t elements) {
  const auto [entry, is_new] = known_.emplace(std::pair{format.name, elements}, 0.0);
  if (!is_new) return entry->second;
  const double largest = largest_code(format);
  entry->second = largest > 0.0 ? numerics::uniform_quantizer_nmse(elements, largest)
                                : measured_nmse(format, elements);
  return entry->second;
}

/// Two ranks gather what each has quantized once.
double ErrorTheory::measured_nmse(const numerics::BlockFormat& format,
                                  std::uint64_t elements) const {
  constexpr std::uint64_t kAbout = 1 << 17;
  constexpr std::uint32_t kRanks = 2;
  const std::uint64_t minishard = elements * numerics::kRegisterElements;
  const auto minishards =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kAbout / minishard));
  const std::uint64_t tensor = kRanks * minishards * minishard;
  const collectives::Program program = collectives::make_direct_exchange(
      collectives::Collective::all_gather, kRanks, tensor, numerics::ElementFormat::fp32,
      {format, format, {minishards, 1}});
  const values::TensorSource source(config_.tensor.values, tensor, numerics::ElementFormat::fp32);
  return values::execute(program, source).against_exact.nmse;
}

}  // namespace equarx::tune
