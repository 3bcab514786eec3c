// Programs with an arithmetic of their own: owners that keep their sums, fused residuals.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Returns `program` with this arithmetic. Owners that keep their sums store them instead of
/// decoding their codes. A residual is added after the last term of every sum, or to the whole
/// result.
/// @throws std::invalid_argument for a residual in a program that adds terms one by one along a
/// ring, or in several stages (sums_at_once()); for owners that keep their sums, or a residual, in
/// a program with casts
Program with_arithmetic(Program program, const Arithmetic& arithmetic);

/// True if every sum of the program is formed by a single instruction, as in kernels that fuse a
/// residual: one-shot, two-shot with encoded own terms, nvls, quickreduce. Also true for sums by
/// one `accumulate` per term, at the owner.
bool sums_at_once(const Program& program);

/// True for an Op::reduce_shards that rounds to the wire format after every term: of a format
/// without scales, unless the program has an accumulator.
bool rounds_terms(const Program& program, const Instruction& instruction);

}  // namespace equarx::collectives
