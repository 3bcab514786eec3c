#include "experiments/tune/theory.hpp"

#include <algorithm>
#include <vector>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/tensor_json.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/values/quantizer_nmse.hpp"

namespace equarx::tune {
namespace {

using collectives::Phase;

/// Elements of the smallest scale group in chunks of a segment.
std::uint64_t group_elements(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                             std::uint32_t segment, std::uint32_t uncut) {
  if (collective.format.layout != numerics::ScaleLayout::strided) return collective.format.block;
  const std::uint64_t chunk = scheme.partition.chunk_elements(segment, uncut);
  const std::uint64_t minishard = chunk / minishards_of(collective, chunk);
  return std::max<std::uint64_t>(1, minishard / numerics::kRegisterElements);
}

/// Largest code of a format whose error has a closed form, else 0.
double largest_code(const numerics::BlockFormat& format) {
  if (format.rule != numerics::ScaleRule::amax || format.scale != numerics::ScaleFormat::fp32)
    return 0.0;
  switch (format.element) {
    case numerics::ElementFormat::int8: return numerics::kInt8LargestCode;
    case numerics::ElementFormat::int6: return numerics::kInt6LargestCode;
    case numerics::ElementFormat::int4: return numerics::kInt4LargestCode;
    default: return 0.0;
  }
}

/// Edges quantized by a ReduceScatter in one segment; one stage per axis of the segment.
numerics::Edges edges_of(const TuneScheme& scheme, std::uint32_t segment) {
  const collectives::RankGrid& grid = scheme.partition.grid();
  switch (scheme.algorithm->summation) {
    case collectives::Summation::everywhere: return numerics::one_shot_edges(grid.ranks());
    case collectives::Summation::at_owner: return numerics::direct_edges(grid.ranks());
    case collectives::Summation::in_pairs: return numerics::recursive_doubling_edges(grid.ranks());
    case collectives::Summation::along_rings: break;
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
  if (!config::has_normal_values(config_.tensor) || !collective.format.scaled) return std::nullopt;
  if (collectives::is_of_slices(scheme.algorithm->layout)) return std::nullopt;  // two levels
  if (scheme.algorithm->layout == collectives::RankLayout::graph) return std::nullopt;  // weights
  const std::uint32_t segments = scheme.partition.segments();
  ErrorPrediction prediction;
  double elements = 0.0;
  for (std::uint32_t segment = 0; segment < segments; ++segment)
    elements += static_cast<double>(scheme.partition.segment_elements(segment));
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const ErrorPrediction part = predict_segment(scheme, collective, segment);
    const double share = static_cast<double>(scheme.partition.segment_elements(segment)) / elements;
    prediction.nmse += part.nmse * share;
    prediction.floor += part.floor * share;
  }
  return prediction;
}

ErrorPrediction ErrorTheory::predict_segment(const TuneScheme& scheme,
                                             const config::CollectiveConfig& collective,
                                             std::uint32_t segment) {
  const numerics::ElementFormat dtype = config_.tensor.dtype;
  using collectives::Collective;
  const Collective kind = config_.collective;
  const bool scatters = collectives::adds(kind) || kind == Collective::all_to_all;
  const bool shares = scheme.algorithm->has_two_phases && kind != Collective::reduce_scatter &&
                      kind != Collective::all_to_all;
  const bool reduces =
      scatters && config::wire_format(collective, Phase::reduce_scatter, dtype).scaled;
  const bool gathers = shares && config::wire_format(collective, Phase::all_gather, dtype).scaled;
  const numerics::Edges edges = reduces ? edges_of(scheme, segment) : numerics::Edges();
  const std::uint32_t ranks = scheme.partition.grid().ranks();
  // The last stage sends shards, split along all axes; each earlier stage has one more unsplit
  // axis.
  const std::uint32_t last_stage = edges.empty() ? 0 : edges.back().stage;
  std::vector<double> nmse;  // by number of unsplit axes
  for (std::uint32_t uncut = 0; uncut <= last_stage; ++uncut)
    nmse.push_back(
        quantizer_nmse(collective.format, group_elements(scheme, collective, segment, uncut)));
  const numerics::QuantizerNmse quantizer(
      [&](const numerics::Edge& edge) { return nmse[last_stage - edge.stage]; }, nmse.front());
  return {numerics::compounded_allreduce_nmse(quantizer, ranks, edges, gathers),
          numerics::saturated_allreduce_nmse(quantizer, ranks, edges, gathers) / kMargin};
}

double ErrorTheory::quantizer_nmse(const config::NamedBlockFormat& format, std::uint64_t elements) {
  Known& known = known_of({format.name, elements});
  std::call_once(known.found, [&] {
    const double largest = largest_code(format);
    known.nmse = largest > 0.0
                     ? numerics::uniform_quantizer_nmse(elements, largest)
                     : values::measured_quantizer_nmse(format, elements, config_.tensor.values);
  });
  return known.nmse;
}

ErrorTheory::Known& ErrorTheory::known_of(const std::pair<std::string, std::uint64_t>& key) {
  const std::scoped_lock locked(lock_);
  return known_[key];
}

}  // namespace equarx::tune
