// Why something that was asked for cannot be done: a result like any other, which planners return, because
// whoever tries several ways goes on with the next one. Who has only one way throws it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "experiments/input/errors.hpp"

namespace equarx::plan {

/// Why something cannot be done.
struct Obstacle {
  std::string pointer;  ///< JSON pointer of the key that is to blame; empty: none is
  std::string reason;   ///< what is wrong, and the remedy

  input::InputError error() const { return {pointer, reason}; }
  /// The reason, with its place.
  std::string text() const { return error().what(); }
};

/// What was asked for, or why it cannot be had.
template <typename T>
using OrObstacle = std::variant<T, Obstacle>;

/// Nothing, or why not.
using MaybeObstacle = std::optional<Obstacle>;

/// @throws InputError if it is an obstacle.
template <typename T>
T value_or_throw(OrObstacle<T> planned) {
  if (const auto* obstacle = std::get_if<Obstacle>(&planned)) throw obstacle->error();
  return std::get<T>(std::move(planned));
}

}  // namespace equarx::plan
