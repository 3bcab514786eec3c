#include "experiments/plan/kept_by_request.hpp"

#include <functional>
#include <tuple>

namespace equarx::plan {
namespace {

using collectives::ProgramRequest;

bool is_own(const numerics::BlockFormat& format) { return format.rule == numerics::ScaleRule::own; }

auto members_of(const collectives::CutRule& cut) {
  return std::tie(cut.minishards, cut.microshards, cut.elements_per_scale, cut.sizes);
}

/// All members but the graph.
auto members_of(const ProgramRequest& request) {
  const auto& [collective, grid, elements, dtype, ring, reduce_scatter, all_gather, cut,
               reduce_scatter_between, all_gather_between, folded, folded_rate, rows, rows_at_once,
               order, moves_within_first, uploads, graph] = request;
  return std::tuple_cat(
      std::tie(elements, collective, grid, dtype, ring, reduce_scatter, all_gather),
      members_of(cut),
      std::tie(reduce_scatter_between, all_gather_between, folded, folded_rate, rows, rows_at_once,
               order, moves_within_first, uploads));
}

}  // namespace

bool can_be_kept(config::Algorithm algorithm, const ProgramRequest& request) {
  const auto table = collectives::algorithms();
  const std::less<> before;  // of pointers to other objects
  const bool is_of_table =
      !before(algorithm, table.data()) && before(algorithm, table.data() + table.size());
  return is_of_table && request.graph.ranks() == 0 && !is_own(request.reduce_scatter) &&
         !is_own(request.all_gather) && !is_own(request.reduce_scatter_between) &&
         !is_own(request.all_gather_between);
}

bool are_equal(const ProgramRequest& one, const ProgramRequest& other) {
  return members_of(one) == members_of(other);
}

}  // namespace equarx::plan
