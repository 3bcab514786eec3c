// Infeasible requests as ordinary results: planners return them, so that a search can go on with
// the next candidate. Callers without an alternative throw them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "experiments/input/errors.hpp"

namespace equarx::plan {

/// Why a request is infeasible.
struct Infeasible {
  std::string pointer;  ///< JSON pointer of the responsible key; empty if there is none
  std::string reason;   ///< the problem and the remedy

  input::InputError error() const { return {pointer, reason}; }
  /// The reason, with its pointer.
  std::string text() const { return error().what(); }
};

/// The result, or why it is infeasible.
template <typename T>
using OrInfeasible = std::variant<T, Infeasible>;

/// std::nullopt if feasible, or the reason.
using MaybeInfeasible = std::optional<Infeasible>;

/// Returns the result. @throws InputError if it is infeasible.
template <typename T>
T value_or_throw(OrInfeasible<T> planned) {
  if (const auto* infeasible = std::get_if<Infeasible>(&planned)) throw infeasible->error();
  return std::get<T>(std::move(planned));
}

}  // namespace equarx::plan
