// Infeasible requests as ordinary results: planners return them, so that a search can go on with
// the next candidate. Callers without an alternative throw them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/input/errors.hpp"

namespace equarx::plan {

/// Why a request is infeasible.
struct Infeasible {
  std::string pointer;       ///< JSON pointer of the responsible key; empty if there is none
  std::string reason;        ///< the problem and the remedy
  double needs_bytes = 0.0;  ///< HBM needed on each chip, if that is too much

  /// @throws InputError, or DoesNotFitError if the HBM of a chip is too small
  [[noreturn]] void raise() const {
    if (needs_bytes > 0.0) throw input::DoesNotFitError(pointer, reason, needs_bytes);
    throw input::InputError(pointer, reason);
  }
  /// The reason, with its pointer.
  std::string text() const { return input::InputError(pointer, reason).what(); }
};

/// The result, or why it is infeasible.
template <typename T>
using OrInfeasible = std::variant<T, Infeasible>;

/// std::nullopt if feasible, or the reason.
using MaybeInfeasible = std::optional<Infeasible>;

/// Returns the result. @throws InputError if it is infeasible.
template <typename T>
T value_or_throw(OrInfeasible<T> planned) {
  if (const auto* infeasible = std::get_if<Infeasible>(&planned)) infeasible->raise();
  return std::get<T>(std::move(planned));
}

}  // namespace equarx::plan
