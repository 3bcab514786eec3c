#include "models/collectives/ring_tours.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/linear_program.hpp"
#include "models/collectives/ring_timetable.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {
namespace {

using Order = std::vector<std::size_t>;

/// Cost of a step of an additional tour that is not in the timetable: core time for its messages,
/// and in a quantized collective also the synchronisation that occupies the link. In elements that
/// a link direction could move meanwhile: about 0.4 us at 45 GB/s, in bf16; 1.2 us at 45 to 90
/// GB/s, in int8.
constexpr double kPlainStep = 8192.0;
constexpr double kQuantizedStep = 98304.0;

/// With more axes, only rotations are tried, because there are too many orders. No TPU has more.
constexpr std::size_t kMostAxes = 3;

/// Maximum number of slots beyond the number of axes. Two have always been enough, or nearly
/// (docs/model.md, C3d).
constexpr std::uint32_t kMoreSlots = 2;

/// Shards are multiples of registers if a rank has many of them, else of whole blocks of every
/// named format.
constexpr std::uint64_t kManyGranules = 256;
constexpr std::uint64_t kFewGranules = 32;
constexpr std::uint64_t kBlock = 32;

/// Smallest shard with unequal tours: small enough for any tensor that benefits.
constexpr std::uint64_t kLeastShard = 64;

Order first_order(const RankGrid& grid, const RingOptions& options) {
  Order order = options.axes;
  if (order.empty()) {
    order.resize(grid.axes());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  Order sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t axis = 0; axis < std::max(sorted.size(), grid.axes()); ++axis)
    if (sorted.size() != grid.axes() || sorted[axis] != axis)
      throw std::invalid_argument(
          fmt::format("the order of axes {} does not name each of the {} axes once",
                      fmt::join(order, ", "), grid.axes()));
  return order;
}

/// One tour per order, all in lockstep: stage i in slot i.
std::vector<RingTour> rotations(const RankGrid& grid, const RingOptions& options) {
  Order order = first_order(grid, options);
  std::vector<std::uint32_t> slots(order.size());
  std::iota(slots.begin(), slots.end(), 0U);
  std::vector<RingTour> tours = {{order, slots, 1}};
  while (options.rotate_axes && tours.size() < order.size()) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
    tours.push_back({order, slots, 1});
  }
  return tours;
}

/// True if the stages of all axes take the same time.
bool axes_alike(const RankGrid& grid, const RingOptions& options) {
  for (std::size_t axis = 1; axis < grid.axes(); ++axis)
    if (grid.length(axis) != grid.length(0) ||
        options.shares_links(axis, grid.length(axis)) != options.shares_links(0, grid.length(0)))
      return false;
  return true;
}

/// All orders of the axes with all choices of `slots` slots.
std::vector<RingTour> all_tours(const RankGrid& grid, std::uint32_t slots) {
  std::vector<RingTour> tours;
  RingTour tour;
  tour.axes.resize(grid.axes());
  std::iota(tour.axes.begin(), tour.axes.end(), std::size_t{0});
  do {
    std::vector<std::uint8_t> chosen(slots);
    std::fill_n(chosen.begin(), grid.axes(), std::uint8_t{1});
    do {
      tour.slots.clear();
      for (std::uint32_t slot = 0; slot < slots; ++slot)
        if (chosen[slot] != 0) tour.slots.push_back(slot);
      tours.push_back(tour);
    } while (std::ranges::prev_permutation(chosen).found);
  } while (std::ranges::next_permutation(tour.axes).found);
  return tours;
}

/// Tours and their sizes.
struct Division {
  std::vector<RingTour> tours;  ///< without shares
  std::vector<double> shares;   ///< of the tensor, each > 0
  double time = 0.0;            ///< approximate, in elements that a link direction moves
};

/// Divides the tensor among tours so that the total length of the slots is minimal.
class Divider {
 public:
  Divider(const RankGrid& grid, std::uint64_t elements, const RingOptions& options)
      : grid_(grid), elements_(static_cast<double>(elements)), options_(options) {}

  /// Omits tours without elements. Returns std::nullopt if no division is found, which only happens
  /// on tori of very many chips.
  std::optional<Division> divide(const std::vector<RingTour>& tours) const {
    const std::optional<std::vector<double>> found = maximize(linear_program(tours));
    if (!found) return std::nullopt;
    const std::vector<double>& sizes = *found;
    const double total =
        std::accumulate(sizes.begin(), sizes.begin() + std::ssize(tours), 0.0);  // slots follow
    Division division;
    for (std::size_t i = 0; i < tours.size(); ++i) {
      constexpr double kNothing = 1e-9;
      if (sizes[i] <= kNothing * total) continue;
      division.tours.push_back(tours[i]);
      division.shares.push_back(sizes[i] / total);
    }
    division.time = time_of(division);
    return division;
  }

  /// All tours of the same size.
  Division equal(const std::vector<RingTour>& tours) const {
    Division division{
        tours, std::vector<double>(tours.size(), 1.0 / static_cast<double>(tours.size())), 0.0};
    division.time = time_of(division);
    return division;
  }

  /// Removes tours, the smallest first, as long as the time does not grow: each tour has steps of
  /// its own. At least as many tours as axes remain, so that all axes can start at once.
  Division thin_out(Division division) const {
    while (std::optional<Division> fewer = without_one(division)) division = *std::move(fewer);
    return division;
  }

 private:
  std::optional<Division> without_one(const Division& division) const {
    std::vector<std::size_t> smallest(division.tours.size());
    std::iota(smallest.begin(), smallest.end(), std::size_t{0});
    std::ranges::stable_sort(smallest, {}, [&](std::size_t i) { return division.shares[i]; });
    if (smallest.size() <= grid_.axes()) return std::nullopt;
    for (const std::size_t one : smallest) {
      std::vector<RingTour> others = division.tours;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(one));
      std::optional<Division> fewer = divide(others);
      if (fewer && fewer->time <= division.time) return fewer;
    }
    return std::nullopt;
  }

  double time_of(const Division& division) const {
    std::vector<double> segments;
    for (const double share : division.shares)
      segments.push_back(share * elements_ / ring_segments(options_.style));
    const double longest = std::ranges::max(grid_.lengths()) - 1.0;
    const double phases = options_.collective == Collective::all_reduce ? 2.0 : 1.0;
    return RingTimetable(grid_, division.tours, segments, options_).end() +
           phases * longest * static_cast<double>(division.tours.size()) *
               (options_.quantizes() ? kQuantizedStep : kPlainStep);
  }

  /// Variables: a size per tour, then a length per slot. In every slot, no axis is busy for longer
  /// than the slot; all slots together have length 1; the total size is maximised.
  LinearProgram linear_program(const std::vector<RingTour>& tours) const {
    const std::uint32_t slots = slots_of(tours);
    LinearProgram program;
    program.objective.assign(tours.size(), 1.0);
    program.objective.resize(tours.size() + slots, 0.0);
    program.rows.assign(grid_.axes() * slots + 1, std::vector<double>(program.objective.size()));
    program.limits.assign(program.rows.size(), 0.0);
    for (std::size_t i = 0; i < tours.size(); ++i) {
      double cut = 1.0;  // fraction of the tour per chunk
      for (std::size_t stage = 0; stage < grid_.axes(); ++stage) {
        const std::size_t axis = tours[i].axes[stage];
        cut /= grid_.length(axis);
        program.rows[axis * slots + tours[i].slots[stage]][i] =
            cut * options_.link_chunks(axis, grid_.length(axis)) / ring_segments(options_.style);
      }
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      for (std::size_t axis = 0; axis < grid_.axes(); ++axis)
        program.rows[axis * slots + slot][tours.size() + slot] = -1.0;
      program.rows.back()[tours.size() + slot] = 1.0;
    }
    program.limits.back() = 1.0;
    return program;
  }

  static std::uint32_t slots_of(const std::vector<RingTour>& tours) {
    std::uint32_t slots = 0;
    for (const RingTour& tour : tours) slots = std::max(slots, tour.slots.back() + 1);
    return slots;
  }

  const RankGrid& grid_;
  double elements_;
  const RingOptions& options_;
};

/// Returns the fastest division; the equal one if it ties.
Division best_division(const RankGrid& grid, std::uint64_t elements, const RingOptions& options) {
  const Divider divider(grid, elements, options);
  const std::vector<RingTour> rotated = rotations(grid, options);
  Division best = divider.equal(rotated);
  const auto consider = [&](std::optional<Division> division) {
    if (division && division->time < best.time) best = *std::move(division);
  };
  consider(divider.divide(rotated));
  if (grid.axes() > kMostAxes || !options.axes.empty()) return best;
  const auto axes = static_cast<std::uint32_t>(grid.axes());
  for (std::uint32_t slots = axes; slots <= axes + kMoreSlots; ++slots)
    if (std::optional<Division> division = divider.divide(all_tours(grid, slots)))
      consider(divider.thin_out(*std::move(division)));
  return best;
}

/// Returns the tours with integer shares, in granules of their shards, which add up to a rank's
/// part.
std::vector<RingTour> with_shares(Division division, std::uint64_t granules) {
  std::uint64_t left = granules;
  for (std::size_t i = 0; i < division.tours.size(); ++i) {
    const double share = std::round(division.shares[i] * static_cast<double>(granules));
    division.tours[i].share = static_cast<std::uint32_t>(share);
    left -= division.tours[i].share;
  }
  // Assign the rounding error, fewer granules than there are tours, to the largest tour.
  std::ranges::max_element(division.tours, {}, &RingTour::share)->share +=
      static_cast<std::uint32_t>(left);
  return std::move(division.tours);
}

/// Granule, in elements, of a rank's part of a tour, if it has `per_rank` elements in total: shards
/// are then whole blocks in every segment. A block split between shards would be a different block
/// in the next stage.
std::uint64_t granule_of(std::uint64_t per_rank, const RingOptions& options) {
  std::uint64_t block = kBlock;
  for (const numerics::BlockFormat& format : {options.reduce_scatter, options.all_gather})
    if (format.scaled && format.layout != numerics::ScaleLayout::strided)
      block = std::max<std::uint64_t>(block, format.block);
  const bool many = per_rank / numerics::kRegisterElements >= kManyGranules;
  const std::uint64_t shard = many ? divide_up(numerics::kRegisterElements, block) * block : block;
  return shard * ring_segments(options.style);
}

/// Approximate size of the shards of the smallest tour's segments, in elements.
std::uint64_t smallest_shard(const std::vector<RingTour>& tours, std::uint64_t granule,
                             const RingOptions& options) {
  const std::uint64_t share = std::ranges::min(tours, {}, &RingTour::share).share;
  return share * granule / ring_segments(options.style);
}

}  // namespace

std::vector<RingTour> ring_tours(const RankGrid& grid, std::uint64_t elements,
                                 const RingOptions& options) {
  std::vector<RingTour> equal = rotations(grid, options);
  if (equal.size() == 1 || axes_alike(grid, options)) return equal;
  const std::uint64_t per_rank = elements / grid.ranks();
  const std::uint64_t granule = granule_of(per_rank, options);
  if (per_rank / granule < kFewGranules) return equal;
  std::vector<RingTour> tours =
      with_shares(best_division(grid, elements, options), per_rank / granule);
  const std::uint64_t asked =
      std::uint64_t{options.cut.minishards.value_or(1)} * options.cut.microshards.value_or(1);
  const bool fits = smallest_shard(tours, granule, options) >= std::max(kLeastShard, asked);
  return fits ? tours : equal;
}

}  // namespace equarx::collectives
