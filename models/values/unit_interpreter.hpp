// One independent part of a collective's values.
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

/// One lane of the chunk that belongs to one place along its segment's first axis.
struct Unit {
  std::uint32_t place = 0;
  std::uint32_t lane = 0;  ///< index into LaneTable::lanes()
};

/// Results of the collective that every rank has, and of an AllToAll one for each sender.
std::uint32_t result_rows(const collectives::Program& program);

/// Runs a unit on all ranks. Holds the memory for it, to be used for unit after unit by one thread.
class UnitInterpreter {
 public:
  /// `counts`: whether quantized() is wanted. `shared`: the scale that ranks share, if the program's format has one; it
  /// has to outlive this. `feedback`: see ValueOptions.
  UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                  std::uint64_t rounding_seed = 1, bool counts = true,
                  const numerics::SharedScale* shared = nullptr,
                  const std::vector<std::span<float>>* feedback = nullptr);

  void run(const Unit& unit);

  /// Where the unit lies in the tensor, without padding.
  std::uint64_t first_element() const { return first_element_; }
  /// What was delivered, and what it would be without error. `row` < result_rows().
  std::span<const float> result(std::uint32_t row = 0) const {
    return std::span(result_).subspan(row * lane_->range.size(), real_elements_);
  }
  std::span<const double> exact(std::uint32_t row = 0) const {
    return std::span(exact_).subspan(row * lane_->range.size(), real_elements_);
  }
  bool ranks_identical() const { return ranks_identical_; }
  /// Bytes by channel, of all ranks together.
  const std::vector<std::uint64_t>& sent_bytes() const { return sent_; }
  const std::vector<std::uint64_t>& received_bytes() const { return received_; }
  const numerics::QuantizeCounts& quantized() const { return quantized_; }
  /// Elements of the result at the largest code, if ranks share a scale.
  std::uint64_t at_largest() const { return at_largest_; }

 private:
  /// Encoded bytes; of scales, also the values that they decode to.
  struct Encoded {
    numerics::AlignedVector<std::byte> bytes;
    numerics::AlignedVector<float> scales;
  };
  /// The amax of one minishard, on its way to become scales.
  struct Amax {
    collectives::Tile tile;
    numerics::AlignedVector<float> values;
  };
  /// A tile of one rank.
  struct Place {
    collectives::Rank rank;
    collectives::Range range;  ///< within the lane
    std::size_t in_minishard;  ///< where it starts
  };

  void start(const Unit& unit);
  void read_inputs();
  void read_and_sum();
  void find_exact();
  void add_feedback();
  void keep_before(std::span<const float> values);
  void feed_back(const Place& place, std::span<const float> after, float unit = 1.0F);
  /// Of a code that is added, in the tensor's units.
  float unit() const { return shared_ == nullptr ? 1.0F : shared_->step(); }
  void run(const collectives::Instruction& instruction);
  void run_on(const collectives::Instruction& instruction, const Place& place);
  void encode_scales(const collectives::Instruction& instruction, const Place& place);
  void encode(const collectives::Instruction& instruction, const Place& place);
  void accumulate(const collectives::Instruction& instruction, const Place& place);
  void add(const collectives::Instruction& instruction, const Place& place);
  void decode(const collectives::Instruction& instruction, const Place& place);
  void add_by_code(const collectives::Instruction& instruction, const Place& place);
  void reduce(const collectives::Instruction& instruction, const Place& place);
  void reduce_shards(const collectives::Instruction& instruction, const Place& place);
  void round_to_wire(const numerics::BlockCodec& format, std::size_t in_minishard,
                     std::span<float> values);
  void deliver_buffers(const collectives::Instruction& instruction);
  void deliver(std::uint32_t row, const collectives::Range& range);
  void cast(const collectives::Instruction& instruction, const Place& place);
  void cast_back(const collectives::Range& range);
  void count_largest(const collectives::Range& range);
  void count(std::vector<std::uint64_t>& bytes, const collectives::Instruction& transfer);

  template <typename Visit>
  void for_each_place(const collectives::Tile& tile, collectives::RankRange ranks, Visit visit);
  template <typename Visit>
  void for_each_maker(collectives::BufferId buffer, const collectives::Origin& origin, Visit visit);

  numerics::AlignedVector<float>& amax_of(const collectives::Tile& tile, collectives::Rank rank,
                                            const numerics::BlockCodec& format);
  std::span<float> values_of(const Place& place);
  collectives::AxisSet summed_along(const collectives::Tile& tile) const;
  collectives::Rank first_to_encode(const collectives::Instruction& instruction,
                                    collectives::Rank rank) const;
  numerics::RoundingKey rounding_key(const collectives::Instruction& instruction,
                                     const Place& place) const;
  const numerics::BlockCodec& codec(collectives::Phase phase) const;
  Encoded& encoded(collectives::BufferId buffer, collectives::Rank maker);
  collectives::Rank maker_of(const collectives::Origin& origin, collectives::Rank reader) const;
  std::span<const float> scales_of(collectives::BufferId payload, collectives::Rank maker);
  std::size_t slot_of(collectives::Rank rank) const;
  collectives::Rank first_rank(const collectives::Tile& tile) const;

  const LaneTable& lanes_;
  const collectives::Program& program_;
  const TensorSource& source_;
  std::uint64_t rounding_seed_;
  bool counts_;
  const numerics::SharedScale* shared_;
  const std::vector<std::span<float>>* feedback_;  // by rank; null without
  std::vector<numerics::BlockCodec> codecs_;       // by phase

  Unit unit_;
  const Lane* lane_ = nullptr;  // of unit_
  std::uint64_t first_element_ = 0;
  std::size_t real_elements_ = 0;
  std::vector<collectives::Offset> peers_;  // to the ranks at the same place along the first axis
  std::vector<numerics::AlignedVector<float>>
      values_;                               // by rank: first its input, then its partial sums
  std::vector<std::vector<Amax>> amax_;  // by rank
  // Tiles whose sums ranks have formed alike: all that differ along these axes only have the same.
  std::vector<std::pair<collectives::Tile, collectives::AxisSet>> summed_;
  std::vector<Encoded> encoded_;  // by place in the lane's buffers, and slot of the maker
  numerics::AlignedVector<double> exact_;
  numerics::AlignedVector<float> result_;
  std::vector<bool> have_result_;     // by element where a delivery starts
  std::vector<bool> have_cast_back_;  // by element where a cast starts
  numerics::AlignedVector<float> decoded_;
  numerics::AlignedVector<std::byte> rounded_;
  numerics::AlignedVector<float> before_;  // of a rounding, if there is feedback
  bool ranks_identical_ = true;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  numerics::QuantizeCounts quantized_;
  std::uint64_t at_largest_ = 0;
};

}  // namespace equarx::values
