// Infeasible requests as ordinary results: planners return them, so that a search can go on with
// the next candidate. Callers without an alternative throw them.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <tl/expected.hpp>

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

/// A result, or why it is infeasible. Expected<void>: outcome of a check.
template <typename T>
using Expected = tl::expected<T, Infeasible>;

/// The infeasible outcome, for functions that return an Expected.
inline tl::unexpected<Infeasible> infeasible(std::string pointer, std::string reason,
                                             double needs_bytes = 0.0) {
  return tl::unexpected(Infeasible{std::move(pointer), std::move(reason), needs_bytes});
}

/// Returns the result. @throws InputError as Infeasible::raise()
template <typename T>
T value_or_throw(Expected<T> expected) {
  if (!expected) expected.error().raise();
  if constexpr (!std::is_void_v<T>) return *std::move(expected);
}

}  // namespace equarx::plan
