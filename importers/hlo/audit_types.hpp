// Audit of the types that collectives move and add.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "importers/common/audit.hpp"
#include "importers/hlo/audit_site.hpp"

namespace equarx::hlo {

/// Expected relative error (root mean square) of a sum of `ranks` independent terms of equal power
/// in a floating-point type with `mantissa` stored bits, if a ring rounds every partial sum.
/// Rounding errors are uniform within half a unit in the last place, the significands logarithmic.
double ring_sum_error(std::size_t ranks, int mantissa);
/// Likewise for an exact sum that is rounded once.
double rounding_error(int mantissa);

/// Collectives of floating-point values that are moved in a wider type than they come from or are
/// cast to: AuditRule::casts for gathers with a cast of the result, AuditRule::wide_type otherwise.
std::vector<imports::AuditFinding> audit_types(const AuditInput& input);

/// Sums over more than two chips in 16 bits or fewer: AuditRule::half_sum.
std::vector<imports::AuditFinding> audit_sums(const AuditInput& input);

}  // namespace equarx::hlo
