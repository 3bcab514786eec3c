// Computes the values of one independent part of a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/encoded_buffers.hpp"
#include "models/values/error_feedback.hpp"
#include "models/values/lane_uses.hpp"
#include "models/values/lanes.hpp"
#include "models/values/rounding_keys.hpp"
#include "models/values/scale_exchange.hpp"
#include "models/values/sum_arithmetic.hpp"
#include "models/values/tensor_source.hpp"
#include "models/values/unit_geometry.hpp"
#include "models/values/unit_input.hpp"
#include "models/values/unit_recorder.hpp"
#include "models/values/unit_result.hpp"
#include "models/values/unit_traffic.hpp"

namespace equarx::values {

/// Options of a UnitInterpreter. Pointers may be null, and must outlive it.
struct UnitOptions {
  std::uint64_t rounding_seed = 1;
  bool counts = true;   ///< count clipped and flushed elements: quantized()
  bool traffic = true;  ///< count bytes: sent_bytes(), received_bytes()
  bool ranges = false;  ///< trace magnitudes and range errors: ranges()
  /// The scale shared by all ranks, if the program's format has one.
  const numerics::SharedScale* shared = nullptr;
  const std::vector<std::span<float>>* feedback = nullptr;    ///< see ValueOptions
  const TensorSource* residual = nullptr;                     ///< see ValueOptions
  ValueRecord* record = nullptr;                              ///< see ValueOptions
  std::shared_ptr<const numerics::RuleCodec> own_codec = {};  ///< see ValueOptions
};

/// Runs a unit on all ranks: executes the instructions of its lane. Reuses its memory from unit to
/// unit; one per thread.
class UnitInterpreter {
 public:
  /// Keeps references to all.
  UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                  const UnitOptions& options = {});
  UnitInterpreter(const UnitInterpreter&) = delete;  // its parts refer to each other
  UnitInterpreter& operator=(const UnitInterpreter&) = delete;

  /// Computes a unit. Its results replace the previous ones.
  void run(const Unit& unit);

  /// Index of the unit's first element in the tensor, without padding.
  std::uint64_t first_element() const { return geometry_.first_element(); }
  /// The delivered values, without padding. `row` < result_rows().
  std::span<const float> result(std::uint32_t row = 0) const {
    return result_.values(row).first(geometry_.real_elements(row));
  }
  /// The exact values, in double, without padding. `row` < result_rows().
  std::span<const double> exact(std::uint32_t row = 0) const {
    return input_.exact(row).first(geometry_.real_elements(row));
  }
  bool ranks_identical() const { return result_.ranks_identical(); }
  /// Elements of the result, without padding, whose bits are not the same on all ranks.
  std::uint64_t differing() const { return result_.differing(); }
  /// Bytes by channel, summed over all ranks.
  const std::vector<std::uint64_t>& sent_bytes() const { return traffic_.sent(); }
  const std::vector<std::uint64_t>& received_bytes() const { return traffic_.received(); }
  const numerics::QuantizeCounts& quantized() const { return quantized_; }
  /// All zero unless traced.
  const RangeCounts& ranges() const { return arithmetic_.ranges(); }
  /// Elements of the result with the largest code, if the ranks share a scale.
  std::uint64_t at_largest() const { return result_.at_largest(); }

 private:
  void start(const Unit& unit);
  void run_on_demand();
  void run(const collectives::Instruction& instruction);
  void run_on(const collectives::Instruction& instruction, const RankTile& tile);
  void cast(const collectives::Instruction& instruction, const RankTile& tile);
  void cast_to_codes(const collectives::Instruction& instruction, const RankTile& tile);
  void encode(const collectives::Instruction& instruction, const RankTile& tile);
  void encode_values(const collectives::Instruction& instruction, const RankTile& tile);
  void encode_scales(const collectives::Instruction& instruction, const RankTile& tile);
  void record_message(const collectives::Instruction& instruction, const RankTile& tile);
  void scale(const RankTile& tile);
  void accumulate(const collectives::Instruction& instruction, const RankTile& tile);
  void add_residual(const collectives::Instruction& instruction, const RankTile& tile);
  void add_residual_after(const collectives::Instruction& instruction, const RankTile& tile);
  EncodedTerm term_of(collectives::BufferId buffer, collectives::Rank producer,
                      const RankTile& tile);
  void add(const collectives::Instruction& instruction, const RankTile& tile);
  void add_by_code(const collectives::Instruction& instruction, const RankTile& tile);
  void decode(const collectives::Instruction& instruction, const RankTile& tile);
  void reduce(const collectives::Instruction& instruction, const RankTile& tile);
  void reduce_shards(const collectives::Instruction& instruction, const RankTile& tile);
  void round_to_wire(const numerics::BlockCodec& format, const RangeTrace::Place& place,
                     std::size_t in_minishard, std::span<float> values,
                     const numerics::RoundingKey& key);
  void deliver_buffers(const collectives::Instruction& instruction);
  void record_readers(const collectives::Instruction& instruction, const RankTile& producer);
  void deliver_to_readers(const collectives::Instruction& instruction);
  void store(const collectives::Instruction& instruction, const RankTile& tile);
  void cast_back(const RankTile& tile);
  void deliver(std::uint32_t row, const collectives::Range& range, const RangeTrace::Place& place);
  void round_decoded(const RangeTrace::Place& place);

  /// True if values and buffers of the unit are held from their first to their last use only.
  bool holds_what_is_used() const {
    return may_release_ && reads_on_demand(program_, geometry_.elements());
  }
  std::span<float> copy_to_scratch(std::span<const float> values);
  /// Value of one unit of the codes that are summed, in units of the tensor.
  float unit() const { return shared_ == nullptr ? 1.0F : shared_->step(); }
  const numerics::BlockCodec& codec(collectives::Phase phase) const {
    return codecs_[static_cast<std::size_t>(phase)];
  }

  const collectives::Program& program_;
  bool counts_;
  bool counts_traffic_;
  bool ranges_;
  bool may_release_;  ///< values and buffers that are used no more
  const numerics::SharedScale* shared_;
  std::shared_ptr<const numerics::RuleCodec> own_codec_;
  std::uint64_t columns_ = numerics::kRegisterElements;  ///< of codecs_
  std::vector<numerics::BlockCodec> codecs_;             ///< by phase
  SumArithmetic arithmetic_;

  UnitGeometry geometry_;
  UnitInput input_;
  ErrorFeedback feedback_;
  EncodedBuffers buffers_;
  ScaleExchange scales_;
  RoundingKeys keys_;
  UnitTraffic traffic_;
  UnitResult result_;
  std::optional<UnitRecorder> recorder_;  ///< if values are recorded
  numerics::QuantizeCounts quantized_;
  numerics::AlignedVector<float> decoded_;      ///< scratch
  numerics::AlignedVector<std::byte> rounded_;  ///< scratch
};

}  // namespace equarx::values
