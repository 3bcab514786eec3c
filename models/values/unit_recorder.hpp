// Records the values of a unit and the ranks whose inputs are in them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/unit_geometry.hpp"
#include "models/values/unit_result.hpp"
#include "models/values/value_record.hpp"

namespace equarx::values {

/// Appends the values of units to a ValueRecord. For sums only (collectives::adds()).
class UnitRecorder {
 public:
  /// A message: a buffer and the rank that encodes it.
  using Message = std::pair<collectives::BufferId, collectives::Rank>;

  /// Keeps references to all; `shared` may be null.
  UnitRecorder(const UnitGeometry& geometry, const numerics::SharedScale* shared,
               ValueRecord& record);

  /// Prepares for the current unit: every rank has its own input.
  void start();

  /// Appends values after an instruction.
  void step(StepKind kind, const collectives::Instruction& instruction, const RankTile& tile,
            std::span<const float> values);
  /// Appends the encoded values of a message, and notes its terms.
  void encode(const collectives::Instruction& instruction, const RankTile& tile,
              std::span<const float> values);
  /// Notes the terms of a message that is sent from where the values are.
  void lend(const collectives::Instruction& instruction, const RankTile& tile);
  /// Starts an empty sum.
  void clear(const RankTile& tile);
  /// Appends the accumulator after the addition of a message. `ranks`: all that compute this sum; empty:
  /// the rank of the tile.
  void add(const collectives::Instruction& instruction, const RankTile& tile,
           const Message& message, std::span<const float> values,
           const std::vector<collectives::Rank>& ranks = {});
  /// Appends the values of a message, which replace the values of the tile.
  void decode(const collectives::Instruction& instruction, const RankTile& tile,
              const Message& message, std::span<const float> values);
  /// Gives `to` the terms of the same elements of another rank.
  void copy(collectives::Rank from, const RankTile& to);

  /// Stores a part of the result of a rank.
  void deliver(collectives::Rank rank, const collectives::Range& range,
               std::span<const float> values);
  /// Casts of a result, and residuals after it, as UnitResult has them.
  UnitResult& result(collectives::Rank rank) { return results_[rank]; }

  /// Appends the results and the exact sum (with padding) of the unit.
  void finish(std::span<const double> exact);

 private:
  using TermsId = std::uint32_t;  ///< index into sets_

  TermsId id_of(std::vector<collectives::Rank> ranks);
  TermsId terms_of(const RankTile& tile) const;
  void set_terms(const RankTile& tile, TermsId terms);
  collectives::Range in_tensor(const collectives::Range& range) const;
  void append(StepKind kind, const collectives::Instruction& instruction, const RankTile& tile,
              std::span<const float> values, const std::vector<collectives::Rank>& ranks);

  const UnitGeometry& geometry_;
  ValueRecord& record_;
  std::vector<std::vector<collectives::Rank>> sets_;  ///< distinct sets of ranks
  std::map<std::vector<collectives::Rank>, TermsId> ids_;
  std::vector<std::vector<TermsId>> terms_;  ///< by rank and element of the unit
  std::map<Message, TermsId> messages_;
  std::vector<UnitResult> results_;                     ///< by rank
  std::vector<std::vector<collectives::Range>> parts_;  ///< delivered, by rank
};

}  // namespace equarx::values
