#include "models/steps/axis_division.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace equarx::steps {
namespace {

using Lengths = std::vector<std::uint32_t>;

/// Prime factors with their multiplicities.
std::map<std::uint32_t, std::uint32_t> prime_factors(std::uint32_t number) {
  std::map<std::uint32_t, std::uint32_t> factors;
  for (std::uint32_t prime = 2; prime * prime <= number; ++prime)
    for (; number % prime == 0; number /= prime) ++factors[prime];
  if (number > 1) ++factors[number];
  return factors;
}

/// All ways to take `length` chips from the free parts of the machine axes; lengths by axis.
std::set<Lengths> feasible(const Lengths& free, std::uint32_t length) {
  std::set<Lengths> found = {Lengths(free.size(), 1)};
  for (const auto& [prime, times] : prime_factors(length))
    for (std::uint32_t i = 0; i < times; ++i) {
      std::set<Lengths> longer;
      for (const Lengths& taken : found)
        for (std::size_t axis = 0; axis < free.size(); ++axis) {
          if (free[axis] / taken[axis] % prime != 0 || free[axis] % taken[axis] != 0) continue;
          Lengths more = taken;
          more[axis] *= prime;
          longer.insert(std::move(more));
        }
      found = std::move(longer);
    }
  return found;
}

/// Order of preference of JAX: the larger is better. `taken`: lengths by machine axis; `free`: what
/// is left of each; `whole`: their lengths.
std::tuple<std::uint64_t, std::size_t, std::uint64_t, Lengths> preference(const Lengths& taken,
                                                                          const Lengths& free,
                                                                          const Lengths& whole) {
  std::uint64_t chips_of_whole = 1;
  std::uint64_t chips_of_divided = 1;
  std::size_t whole_axes = 0;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    if (taken[axis] == whole[axis]) {
      chips_of_whole *= taken[axis];
      whole_axes += taken[axis] > 1 ? 1 : 0;
    }
    if (free[axis] < whole[axis]) chips_of_divided *= taken[axis];
  }
  return {chips_of_whole, whole_axes, chips_of_divided, taken};
}

/// Products of the lengths from each axis to the last, and 1: positions at which an axis ends.
std::vector<std::uint64_t> borders_of(const Lengths& lengths) {
  std::vector<std::uint64_t> borders = {1};
  for (std::size_t axis = lengths.size(); axis-- > 0;)
    borders.push_back(borders.back() * lengths[axis]);
  return borders;
}

/// Index of the axis that contains the chips between two borders.
std::size_t axis_at(const Lengths& lengths, std::uint64_t below) {
  std::uint64_t border = 1;
  for (std::size_t axis = lengths.size(); axis-- > 0;) {
    border *= lengths[axis];
    if (below < border) return axis;
  }
  return 0;
}

}  // namespace

Division undivided(std::size_t machine_axes, std::size_t mesh_axes) {
  return Division(machine_axes, Lengths(mesh_axes, 1));
}

std::uint64_t length_of_axis(const Division& division, std::size_t axis) {
  return std::accumulate(division[axis].begin(), division[axis].end(), std::uint64_t{1},
                         std::multiplies<>());
}

std::uint64_t length_of_mesh_axis(const Division& division, std::size_t axis) {
  std::uint64_t length = 1;
  for (const Lengths& parts : division) length *= parts[axis];
  return length;
}

bool is_complete(const Lengths& machine, const Lengths& mesh, const Division& division) {
  for (std::size_t axis = 0; axis < machine.size(); ++axis)
    if (length_of_axis(division, axis) != machine[axis]) return false;
  for (std::size_t axis = 0; axis < mesh.size(); ++axis)
    if (length_of_mesh_axis(division, axis) != mesh[axis]) return false;
  return true;
}

void divide_slowest_first(std::size_t axis, const Lengths& machine, const Lengths& mesh,
                          Division& division) {
  for (std::size_t of = 0; of < mesh.size(); ++of) {
    const std::uint64_t free = machine[axis] / length_of_axis(division, axis);
    const std::uint64_t own = mesh[of] / length_of_mesh_axis(division, of);
    division[axis][of] *= static_cast<std::uint32_t>(std::gcd(free, own));
  }
}

void divide_like_jax(std::size_t first, const Lengths& machine, const Lengths& mesh,
                     Division& division) {
  const Lengths whole(machine.begin() + static_cast<std::ptrdiff_t>(first), machine.end());
  for (std::size_t of = mesh.size(); of-- > 0;) {
    Lengths free;
    for (std::size_t axis = first; axis < machine.size(); ++axis)
      free.push_back(machine[axis] / static_cast<std::uint32_t>(length_of_axis(division, axis)));
    const auto own = static_cast<std::uint32_t>(mesh[of] / length_of_mesh_axis(division, of));
    const std::set<Lengths> choices = feasible(free, own);
    if (choices.empty()) continue;
    const Lengths& best = *std::ranges::max_element(
        choices, {}, [&](const Lengths& taken) { return preference(taken, free, whole); });
    for (std::size_t axis = 0; axis < best.size(); ++axis) division[first + axis][of] *= best[axis];
  }
}

std::optional<Division> divide_in_order(const Lengths& machine, const Lengths& mesh) {
  std::vector<std::uint64_t> borders = borders_of(machine);
  const std::vector<std::uint64_t> others = borders_of(mesh);
  borders.insert(borders.end(), others.begin(), others.end());
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  Division division = undivided(machine.size(), mesh.size());
  for (std::size_t i = 1; i < borders.size(); ++i) {
    if (borders[i] % borders[i - 1] != 0) return std::nullopt;
    const auto length = static_cast<std::uint32_t>(borders[i] / borders[i - 1]);
    division[axis_at(machine, borders[i - 1])][axis_at(mesh, borders[i - 1])] *= length;
  }
  return division;
}

}  // namespace equarx::steps
