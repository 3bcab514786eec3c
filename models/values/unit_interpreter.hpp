// Computes the values of one independent part of a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/lanes.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// One lane of one chunk: the chunk at a coordinate along the first axis of the lane's segment.
struct Unit {
  std::uint32_t coordinate = 0;
  std::uint32_t lane = 0;  ///< index into LaneTable::lanes()
};

/// Number of distinct results: one per sender for an AllToAll, else 1 (the same on all ranks).
std::uint32_t result_rows(const collectives::Program& program);

/// Runs a unit on all ranks. Reuses its memory from unit to unit; one per thread.
class UnitInterpreter {
 public:
  /// `counts`: true if quantized() is needed. `shared`: the scale shared by all ranks, if the
  /// program's format has one; must outlive this object. `feedback`: see ValueOptions.
  UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                  std::uint64_t rounding_seed = 1, bool counts = true,
                  const numerics::SharedScale* shared = nullptr,
                  const std::vector<std::span<float>>* feedback = nullptr);

  void run(const Unit& unit);

  /// Index of the unit's first element in the tensor, without padding.
  std::uint64_t first_element() const { return first_element_; }
  /// The delivered values, and the exact ones in double. `row` < result_rows().
  std::span<const float> result(std::uint32_t row = 0) const {
    return std::span(result_).subspan(row * lane_->range.size(), real_elements_);
  }
  std::span<const double> exact(std::uint32_t row = 0) const {
    return std::span(exact_).subspan(row * lane_->range.size(), real_elements_);
  }
  bool ranks_identical() const { return ranks_identical_; }
  /// Bytes by channel, summed over all ranks.
  const std::vector<std::uint64_t>& sent_bytes() const { return sent_; }
  const std::vector<std::uint64_t>& received_bytes() const { return received_; }
  const numerics::QuantizeCounts& quantized() const { return quantized_; }
  /// Elements of the result with the largest code, if the ranks share a scale.
  std::uint64_t at_largest() const { return at_largest_; }

 private:
  /// Encoded bytes; for scales, also the decoded values.
  struct Encoded {
    numerics::AlignedVector<std::byte> bytes;
    numerics::AlignedVector<float> scales;
  };
  /// Amax of each scale group of one minishard, until encode_scales consumes it.
  struct Amax {
    collectives::Tile tile;
    numerics::AlignedVector<float> values;
  };
  /// A tile on one rank.
  struct RankTile {
    collectives::Rank rank;
    collectives::Range range;  ///< within the lane
    std::size_t in_minishard;  ///< its start within the minishard
  };

  void start(const Unit& unit);
  void read_inputs();
  void read_and_sum();
  void compute_exact();
  void add_feedback();
  void save_unrounded(std::span<const float> values);
  void record_loss(const RankTile& tile, std::span<const float> after, float unit = 1.0F);
  /// Value of one unit of the codes that are summed, in units of the tensor.
  float unit() const { return shared_ == nullptr ? 1.0F : shared_->step(); }
  void run(const collectives::Instruction& instruction);
  void run_on(const collectives::Instruction& instruction, const RankTile& tile);
  void encode_scales(const collectives::Instruction& instruction, const RankTile& tile);
  void encode(const collectives::Instruction& instruction, const RankTile& tile);
  void accumulate(const collectives::Instruction& instruction, const RankTile& tile);
  void add(const collectives::Instruction& instruction, const RankTile& tile);
  void decode(const collectives::Instruction& instruction, const RankTile& tile);
  void add_by_code(const collectives::Instruction& instruction, const RankTile& tile);
  void reduce(const collectives::Instruction& instruction, const RankTile& tile);
  void reduce_shards(const collectives::Instruction& instruction, const RankTile& tile);
  void round_to_wire(const numerics::BlockCodec& format, std::size_t in_minishard,
                     std::span<float> values);
  void deliver_buffers(const collectives::Instruction& instruction);
  void deliver(std::uint32_t row, const collectives::Range& range);
  void cast(const collectives::Instruction& instruction, const RankTile& tile);
  void cast_back(const collectives::Range& range);
  void count_largest(const collectives::Range& range);
  void count(std::vector<std::uint64_t>& bytes, const collectives::Instruction& transfer);

  template <typename Visit>
  void for_each_tile(const collectives::Tile& tile, collectives::RankRange ranks, Visit visit);
  template <typename Visit>
  void for_each_producer(collectives::BufferId buffer, const collectives::Origin& origin,
                         Visit visit);

  numerics::AlignedVector<float>& amax_of(const collectives::Tile& tile, collectives::Rank rank,
                                          const numerics::BlockCodec& format);
  std::span<float> values_of(const RankTile& tile);
  collectives::AxisSet summed_along(const collectives::Tile& tile) const;
  collectives::Rank first_to_encode(const collectives::Instruction& instruction,
                                    collectives::Rank rank) const;
  numerics::RoundingKey rounding_key(const collectives::Instruction& instruction,
                                     const RankTile& tile) const;
  const numerics::BlockCodec& codec(collectives::Phase phase) const;
  Encoded& encoded(collectives::BufferId buffer, collectives::Rank producer);
  collectives::Rank producer_of(const collectives::Origin& origin, collectives::Rank reader) const;
  std::span<const float> scales_of(collectives::BufferId payload, collectives::Rank producer);
  std::size_t slot_of(collectives::Rank rank) const;
  collectives::Rank first_rank(const collectives::Tile& tile) const;

  const LaneTable& lanes_;
  const collectives::Program& program_;
  const TensorSource& source_;
  std::uint64_t rounding_seed_;
  bool counts_;
  const numerics::SharedScale* shared_;
  const std::vector<std::span<float>>* feedback_;  // by rank; null if unused
  std::vector<numerics::BlockCodec> codecs_;       // by phase

  Unit unit_;
  const Lane* lane_ = nullptr;  // of unit_
  std::uint64_t first_element_ = 0;
  std::size_t real_elements_ = 0;
  // To the ranks with the same coordinate along the first axis.
  std::vector<collectives::Offset> peers_;
  std::vector<numerics::AlignedVector<float>> values_;  // by rank: the input, then partial sums
  std::vector<std::vector<Amax>> amax_;                 // by rank
  // Tiles with identical sums on all ranks that differ along the given axes only.
  std::vector<std::pair<collectives::Tile, collectives::AxisSet>> summed_;
  std::vector<Encoded> encoded_;  // by index into the lane's buffers and slot of the producer
  numerics::AlignedVector<double> exact_;
  numerics::AlignedVector<float> result_;
  std::vector<bool> have_result_;     // by first element of a delivery
  std::vector<bool> have_cast_back_;  // by first element of a cast
  numerics::AlignedVector<float> decoded_;
  numerics::AlignedVector<std::byte> rounded_;
  numerics::AlignedVector<float> unrounded_;  // operands of a rounding, if there is feedback
  bool ranks_identical_ = true;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  numerics::QuantizeCounts quantized_;
  std::uint64_t at_largest_ = 0;
};

}  // namespace equarx::values
