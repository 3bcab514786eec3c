#include "models/numerics/errors/theory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace equarx::numerics {

namespace {

void check_positive(std::uint64_t number, const char* what) {
  if (number == 0) throw std::invalid_argument(std::string(what) + " is 0: must be at least 1");
}

void append_arm(Edges& edges, std::uint32_t steps) {
  for (std::uint32_t step = 1; step <= steps; ++step) edges.push_back({.summed = step});
}

}  // namespace

double expected_squared_amax(std::uint64_t elements) {
  check_positive(elements, "elements of a scale group");
  // E[M^2] = integral over m of 2 m P(M > m), P(M > m) = 1 - (1 - erfc(m / sqrt(2)))^elements.
  // Simpson's rule. Beyond kEnd the integrand is below 1e-60 even for 2^64 elements.
  constexpr double kEnd = 20.0;
  constexpr int kIntervals = 1 << 14;
  constexpr double kStep = kEnd / kIntervals;
  const auto n = static_cast<double>(elements);
  double sum = 0.0;  // the integrand is 0 at both ends
  for (int i = 1; i < kIntervals; ++i) {
    const double m = i * kStep;
    const double tail = std::erfc(m / std::numbers::sqrt2);
    const double above = -std::expm1(n * std::log1p(-tail));
    sum += (i % 2 == 1 ? 4.0 : 2.0) * 2.0 * m * above;
  }
  return sum * kStep / 3.0;
}

double uniform_quantizer_nmse(std::uint64_t elements, double largest_code) {
  const double squared_step = expected_squared_amax(elements) / (largest_code * largest_code);
  const auto n = static_cast<double>(elements);
  return squared_step / 12.0 * ((n - 1.0) / n);
}

Edges full_loop_edges(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  Edges edges;
  append_arm(edges, ranks - 1);
  return edges;
}

Edges semi_loop_edges(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  Edges edges;
  append_arm(edges, ranks / 2);
  append_arm(edges, ranks - ranks / 2 - 1);
  return edges;
}

Edges torus_edges(std::span<const std::uint32_t> lengths, RingEdges ring) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t length : lengths) ranks *= length;
  check_positive(ranks, "ranks");
  Edges edges;
  std::uint32_t summed = 1;  // ranks summed in each term of this stage
  std::uint32_t stage = 0;
  for (const std::uint32_t length : lengths) {
    const std::uint32_t rings = ranks / summed / length;
    for (const Edge& edge : ring(length))
      edges.push_back({summed * edge.summed, rings * edge.count, stage});
    summed *= length;
    ++stage;
  }
  return edges;
}

Edges direct_edges(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  if (ranks == 1) return {};
  return {{.summed = 1, .count = ranks - 1}};
}

Edges one_shot_edges(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  return {{.summed = 1, .count = ranks}};
}

Edges recursive_doubling_edges(std::uint32_t ranks) {
  if (!std::has_single_bit(ranks)) {
    throw std::invalid_argument(std::to_string(ranks) + " ranks: must be a power of two");
  }
  Edges edges;
  for (std::uint32_t summed = 1; summed < ranks; summed *= 2)
    edges.push_back({.summed = summed, .count = ranks / summed});
  return edges;
}

double compounded_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                 std::span<const Edge> edges, bool gather_quantized) {
  check_positive(ranks, "ranks");
  double error = 0.0;      // powers in units of one rank's
  double arm_error = 0.0;  // accumulated in one message of the arm
  std::uint32_t last = 0;
  for (const Edge& edge : edges) {
    if (edge.summed <= last) arm_error = 0.0;
    last = edge.summed;
    const double added = quantizer.edge(edge) * (edge.summed + arm_error);
    arm_error += added;
    error += edge.count * added;
  }
  if (gather_quantized) error += quantizer.gather * (ranks + error);
  return error / ranks;
}

double saturated_allreduce_nmse(const QuantizerNmse& quantizer, std::uint32_t ranks,
                                std::span<const Edge> edges, bool gather_quantized) {
  check_positive(ranks, "ranks");
  double error = 0.0;
  for (const Edge& edge : edges)
    error += edge.count * std::min(quantizer.edge(edge) * edge.summed, 1.0);
  if (gather_quantized) {
    const double gather = quantizer.gather * ranks;
    error += edges.empty() ? gather : std::min(gather, 1.0);
  }
  return error / ranks;
}

}  // namespace equarx::numerics
