// Parts of a machine that do not influence each other.
#pragma once

#include <vector>

#include "sim/machine.hpp"

namespace equarx::sim {

/// Ranks of a machine, ascending.
using Ranks = std::vector<collectives::Rank>;

/// Returns the parts of a machine between which no messages pass and no links are shared, by their
/// first rank: groups of a collective with links of their own.
std::vector<Ranks> independent_parts(const Machine& machine);

/// Returns the machine of some ranks, renumbered in order; links are numbered by first use.
/// `ranks`: one of independent_parts(), or several.
Machine part_of(const Machine& machine, const Ranks& ranks);

/// True if programs take equally long on both machines, rank by rank: they differ in names only.
bool are_alike(const Machine& one, const Machine& other);

}  // namespace equarx::sim
