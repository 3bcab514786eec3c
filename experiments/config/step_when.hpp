// "when" of a rule: the steps in which a collective communicates, and the chips that take part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/collectives/program.hpp"

namespace equarx::config {

/// Steps in which so many chips of a group send.
struct Uploads {
  std::uint32_t chips = 0;  ///< other than the server, chip 0 of the group
  double share = 1.0;       ///< of the steps

  bool operator==(const Uploads&) const = default;
};

/// When a collective of a step communicates; always by default.
struct When {
  std::uint32_t every = 1;            ///< in one of so many steps
  std::vector<Uploads> uploads = {};  ///< most chips first; shares sum to 1. Empty: all chips

  bool operator==(const When&) const = default;
};

/// Steps of a variant that communicate alike.
struct StepKind {
  double share = 1.0;              ///< of the steps
  std::vector<bool> skipped = {};  ///< by collective; none if empty
  /// By collective: chips that send to the server; std::nullopt: all. Empty: all of all.
  std::vector<std::optional<std::uint32_t>> uploads = {};

  bool skips(std::size_t call) const { return call < skipped.size() && skipped[call]; }
  std::optional<std::uint32_t> uploads_of(std::size_t call) const {
    return call < uploads.size() ? uploads[call] : std::nullopt;
  }
};

/// A collective whose rule has "when".
struct TimedCall {
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::uint32_t chips = 1;  ///< of a group
};

/// Replaces the path of a file in "when" of a rule, if it has one, by its content.
/// @throws input::InputError if the file cannot be read
void load_uploads(input::Json& rule, const std::string& pointer);

/// Takes "when" out of a rule, if it has one; with "uploads" the algorithm is "server".
/// @throws input::InputError if a value is invalid, or does not suit the collective
When take_when(input::Json& rule, const std::string& pointer, const TimedCall& call);

/// Kinds of step of a variant, the one that communicates most first. `when`: by collective. Steps
/// are counted from 1; a collective with "every" k runs in every k-th. Collectives with
/// "uploads" have the most in the same steps. @throws input::InputError if there are too many kinds
std::vector<StepKind> kinds_of(const std::vector<When>& when);

/// True if all steps are alike, and all chips send.
bool always_communicates(const std::vector<StepKind>& kinds);

/// Schema of "when", with annotations.
input::Json when_schema();

}  // namespace equarx::config
