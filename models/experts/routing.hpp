// Routing of tokens to experts, and the rows that ranks exchange for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace equarx::experts {

/// Rows that a token sends.
enum class RowsPer : std::uint8_t {
  expert,  ///< one to each of its experts (DeepEP's low-latency kernels)
  rank,    ///< one to each rank with any of its experts (DeepEP's normal kernels)
};

/// Direction of an exchange.
enum class Direction : std::uint8_t {
  dispatch,  ///< tokens to experts
  combine,   ///< results back: as many rows, from receivers to senders
};

/// Tokens of every rank, and the draw of their experts. Experts are divided among the ranks in
/// order, equally.
struct Routing {
  std::uint32_t tokens = 1;   ///< per rank, > 0
  std::uint32_t experts = 1;  ///< a multiple of the ranks
  std::uint32_t top_k = 1;    ///< distinct experts of a token, 1 to `experts`
  /// Exponent s >= 0 of the popularity of experts: the i-th most popular one has weight i^-s (Zipf);
  /// 0: all are alike. The order of popularity is random.
  double skew = 0.0;
  std::uint64_t seed = 1;
  /// Each rank sends an expert at most capacity_factor x tokens x top_k / experts rows, rounded up, and
  /// drops later ones (GShard, arXiv 2006.16668, section 2.2). No limit if absent.
  std::optional<double> capacity_factor = std::nullopt;
  RowsPer rows_per = RowsPer::expert;
  Direction direction = Direction::dispatch;

  bool operator==(const Routing&) const = default;
};

/// An expert of a token whose row is dropped.
inline constexpr std::uint32_t kDropped = 0xFFFFFFFF;

/// Rows of an expert that one rank may send; std::nullopt without a limit.
std::optional<std::uint64_t> capacity(const Routing& routing);

/// Returns the experts of a rank's tokens, top_k per token, without replacement by popularity; kDropped
/// beyond the capacity. The same for equal arguments.
std::vector<std::uint32_t> draw_experts(const Routing& routing, std::uint32_t rank);

/// Rows by pair of ranks.
struct RoutedRows {
  std::vector<std::uint32_t> rows;  ///< by sender x ranks + receiver
  /// Rows of tokens that no rank before in the node gets too; empty with a row for each expert, or a
  /// single node. A row for several ranks of a node can then cross the network once.
  std::vector<std::uint32_t> first_rows;
  double dropped = 0.0;    ///< share of the choices of experts
  double imbalance = 1.0;  ///< choices of the busiest rank's experts relative to the mean
};

/// `node_ranks`: ranks of a node, which divides `ranks`; all of them by default.
/// @throws std::invalid_argument if the experts do not divide among the ranks, top_k exceeds them, or
/// the capacity is less than a row
RoutedRows routed_rows(const Routing& routing, std::uint32_t ranks, std::uint32_t node_ranks = 0);

}  // namespace equarx::experts
