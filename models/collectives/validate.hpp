#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// A violated invariant of a program.
class InvalidProgram : public std::logic_error {
 public:
  /// `at`: index of the instruction; the number of instructions for the end of the program
  InvalidProgram(const Program& program, std::size_t at, std::string_view why);

  std::size_t at() const { return at_; }
  /// The violation, as a clause without the instruction.
  const std::string& why() const { return why_; }

 private:
  std::size_t at_;
  std::string why_;
};

/// Checks the invariants that both executors rely on, so that an invalid program is detected when
/// it is built: every message is sent once and then waited for once, later in the instruction
/// stream (so no rank waits for a message that is never sent, and ranks can be computed in
/// lockstep); waits of a channel come in the order of its sends; no buffer is read before it is
/// written or received, nor as a tile other than its own; every element of the result is delivered
/// once. Programs whose ranks execute different instructions are run rank by rank, without timing.
/// @throws InvalidProgram naming the first instruction that violates an invariant
void validate(const Program& program);

/// The part of validate() for casts: casts of the inputs precede everything else, casts of the
/// result follow it, each covering every element once; no casts without `cast_from`.
/// @throws std::logic_error naming the violated invariant
void validate_casts(const Program& program);

}  // namespace equarx::collectives
