#include "models/experts/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/numerics/random/philox.hpp"

namespace equarx::experts {
namespace {

/// Streams of random numbers, the fourth word of the counters.
constexpr std::uint32_t kOrder = 0;
constexpr std::uint32_t kChoices = 1;

/// Uniform on (0, 1].
double uniform(std::uint32_t word) { return (static_cast<double>(word) + 1.0) * 0x1p-32; }

/// Four random words of a rank, by two indices below 2^32.
numerics::PhiloxCounter words(const Routing& routing, std::uint32_t rank, std::uint32_t first,
                              std::uint32_t second, std::uint32_t stream) {
  return numerics::philox4x32({first, second, rank, stream}, numerics::philox_key(routing.seed));
}

/// Weights of the experts, in random order.
std::vector<double> popularity(const Routing& routing) {
  std::vector<std::uint32_t> order(routing.experts);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = routing.experts; i > 1; --i) {
    const auto other = std::uint64_t{words(routing, 0, i, 0, kOrder)[0]} * i >> 32U;
    std::swap(order[i - 1], order[other]);
  }
  std::vector<double> weights(routing.experts);
  for (std::uint32_t place = 0; place < routing.experts; ++place)
    weights[order[place]] = std::pow(place + 1.0, -routing.skew);
  return weights;
}

void check(const Routing& routing, std::uint32_t ranks) {
  if (routing.tokens == 0 || routing.experts == 0)
    throw std::invalid_argument("there must be at least one token and one expert");
  if (routing.experts % ranks != 0)
    throw std::invalid_argument(
        fmt::format("{} experts cannot be divided among {} ranks; use a multiple of {}",
                    routing.experts, ranks, ranks));
  if (routing.top_k == 0 || routing.top_k > routing.experts)
    throw std::invalid_argument(fmt::format("a token cannot choose {} of {} experts; use 1 to {}",
                                            routing.top_k, routing.experts, routing.experts));
  if (routing.capacity_factor && *routing.capacity_factor <= 0.0)
    throw std::invalid_argument("a capacity factor must be above 0");
}

std::uint32_t rank_of(const Routing& routing, std::uint32_t ranks, std::uint32_t expert) {
  return expert / (routing.experts / ranks);
}

/// Rows of one rank's tokens, by receiver.
struct SentRows {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> first_rows;
  std::vector<double> choices;  ///< by rank of the expert
};

/// Adds the rows of a token. `experts`: its own.
void add_token(const Routing& routing, std::uint32_t node_ranks,
               std::span<const std::uint32_t> experts, SentRows& sent) {
  const auto ranks = static_cast<std::uint32_t>(sent.rows.size());
  std::vector<std::uint32_t> to;
  for (const std::uint32_t expert : experts)
    if (expert != kDropped) to.push_back(rank_of(routing, ranks, expert));
  for (const std::uint32_t rank : to) sent.choices[rank] += 1.0;
  std::ranges::sort(to);
  if (routing.rows_per == RowsPer::rank) to.erase(std::unique(to.begin(), to.end()), to.end());
  std::optional<std::uint32_t> node;
  for (const std::uint32_t rank : to) {
    ++sent.rows[rank];
    if (std::exchange(node, rank / node_ranks) != rank / node_ranks) ++sent.first_rows[rank];
  }
}

std::vector<std::uint32_t> transposed(const std::vector<std::uint32_t>& rows, std::uint32_t ranks) {
  if (rows.empty()) return {};
  std::vector<std::uint32_t> result(rows.size());
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t to = 0; to < ranks; ++to) result[to * ranks + from] = rows[from * ranks + to];
  return result;
}

}  // namespace

std::optional<std::uint64_t> capacity(const Routing& routing) {
  if (!routing.capacity_factor) return std::nullopt;
  const double mean = static_cast<double>(routing.tokens) * routing.top_k / routing.experts;
  return static_cast<std::uint64_t>(std::ceil(*routing.capacity_factor * mean));
}

std::vector<std::uint32_t> draw_experts(const Routing& routing, std::uint32_t rank) {
  const std::vector<double> weights = popularity(routing);
  const std::optional<std::uint64_t> most = capacity(routing);
  std::vector<std::uint64_t> used(routing.experts);
  std::vector<std::pair<double, std::uint32_t>> arrivals(routing.experts);
  std::vector<std::uint32_t> chosen;
  chosen.reserve(std::size_t{routing.tokens} * routing.top_k);
  constexpr std::uint32_t kWords = 4;
  numerics::PhiloxCounter random{};
  for (std::uint32_t token = 0; token < routing.tokens; ++token) {
    // The first of independent exponential arrivals are a draw without replacement by weight.
    for (std::uint32_t expert = 0; expert < routing.experts; ++expert) {
      if (expert % kWords == 0) random = words(routing, rank, token, expert / kWords, kChoices);
      arrivals[expert] = {-std::log(uniform(random[expert % kWords])) / weights[expert], expert};
    }
    std::ranges::partial_sort(arrivals, arrivals.begin() + routing.top_k);
    for (std::uint32_t i = 0; i < routing.top_k; ++i) {
      const std::uint32_t expert = arrivals[i].second;
      const bool fits = !most || used[expert] < *most;
      if (fits) ++used[expert];
      chosen.push_back(fits ? expert : kDropped);
    }
  }
  return chosen;
}

RoutedRows routed_rows(const Routing& routing, std::uint32_t ranks, std::uint32_t node_ranks) {
  check(routing, ranks);
  if (node_ranks == 0) node_ranks = ranks;
  RoutedRows routed;
  std::vector<double> choices(ranks);
  std::size_t dropped = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::vector<std::uint32_t> experts = draw_experts(routing, rank);
    dropped += static_cast<std::size_t>(std::ranges::count(experts, kDropped));
    SentRows sent{std::vector<std::uint32_t>(ranks), std::vector<std::uint32_t>(ranks),
                  std::vector<double>(ranks)};
    for (std::size_t i = 0; i < experts.size(); i += routing.top_k)
      add_token(routing, node_ranks, std::span(experts).subspan(i, routing.top_k), sent);
    routed.rows.insert(routed.rows.end(), sent.rows.begin(), sent.rows.end());
    routed.first_rows.insert(routed.first_rows.end(), sent.first_rows.begin(),
                             sent.first_rows.end());
    for (std::uint32_t to = 0; to < ranks; ++to) choices[to] += sent.choices[to];
  }
  const double all = static_cast<double>(ranks) * routing.tokens * routing.top_k;
  routed.dropped = static_cast<double>(dropped) / all;
  const double kept = all - static_cast<double>(dropped);
  if (kept > 0.0) routed.imbalance = std::ranges::max(choices) * ranks / kept;
  if (routing.rows_per == RowsPer::expert || node_ranks == ranks) routed.first_rows.clear();
  if (routing.direction == Direction::combine) {
    routed.rows = transposed(routed.rows, ranks);
    routed.first_rows = transposed(routed.first_rows, ranks);
  }
  return routed;
}

}  // namespace equarx::experts
