// One independent part of a collective's values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/block_codec.hpp"
#include "models/values/lanes.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// One lane of one shard.
struct Unit {
  std::uint32_t shard = 0;
  std::uint32_t lane = 0;  ///< index into LaneTable::lanes()
};

/// Runs a unit on all ranks. Holds the memory for it, to be used for unit after unit by one thread.
class UnitInterpreter {
 public:
  UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                  std::uint64_t rounding_seed = 1);

  void run(const Unit& unit);

  /// Where the unit lies in the tensor, without padding.
  std::uint64_t first_element() const { return first_element_; }
  std::span<const float> result() const { return std::span(result_).first(real_elements_); }
  std::span<const double> exact() const { return std::span(exact_).first(real_elements_); }
  bool ranks_identical() const { return ranks_identical_; }
  const std::array<std::uint64_t, collectives::kDirections>& sent_bytes() const { return sent_; }
  const std::array<std::uint64_t, collectives::kDirections>& received_bytes() const {
    return received_;
  }
  const numerics::QuantizeCounts& quantized() const { return quantized_; }

 private:
  /// Encoded bytes; of scales, also the values that they decode to.
  struct Encoded {
    std::vector<std::byte> bytes;
    std::vector<float> scales;
  };

  void start(const Unit& unit);
  void run(const collectives::Instruction& instruction);
  void find_scales(const collectives::Instruction& instruction);
  void encode_scales(const collectives::Instruction& instruction);
  void encode(const collectives::Instruction& instruction);
  void accumulate(const collectives::Instruction& instruction);
  void add(const collectives::Instruction& instruction);
  void deliver(const collectives::Instruction& instruction);
  void count(std::array<std::uint64_t, collectives::kDirections>& bytes,
             collectives::MessageId message);

  std::vector<float>& absmax_of(const collectives::Tile& tile, const numerics::BlockCodec& format);
  std::uint32_t rank_of(const collectives::Tile& tile) const;
  collectives::Range range_of(const collectives::Tile& tile) const;
  std::span<float> values_of(const collectives::Tile& tile);
  numerics::RoundingKey rounding_key(const collectives::Instruction& instruction) const;
  const numerics::BlockCodec& codec(collectives::Phase phase) const;
  Encoded& encoded(collectives::BufferId buffer) { return encoded_[lanes_.place(buffer)]; }
  std::span<const float> scales_of(collectives::BufferId payload);

  const LaneTable& lanes_;
  const collectives::Program& program_;
  const TensorSource& source_;
  std::uint64_t rounding_seed_;
  std::array<numerics::BlockCodec, collectives::kPhases> codecs_;

  Unit unit_;
  const Lane* lane_ = nullptr;  // of unit_
  std::uint64_t first_element_ = 0;
  std::size_t real_elements_ = 0;
  std::vector<std::vector<float>> values_;  // by rank: first its input, then its partial sums
  std::vector<std::vector<float>> absmax_;  // by rank
  std::vector<Encoded> encoded_;            // by place in the lane
  std::vector<double> exact_;
  std::vector<float> result_;
  std::vector<bool> have_result_;  // by microshard
  std::vector<float> decoded_;
  std::vector<std::byte> rounded_;
  bool ranks_identical_ = true;
  std::array<std::uint64_t, collectives::kDirections> sent_{};
  std::array<std::uint64_t, collectives::kDirections> received_{};
  numerics::QuantizeCounts quantized_;
};

}  // namespace equarx::values
