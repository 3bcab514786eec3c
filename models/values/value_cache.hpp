// Cache of values, shared by the ranks of a lane.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::values {

/// Caches pieces of the ranks' tensors from their first read, as stored in their type. Thread-safe.
class ValueCache {
 public:
  /// Fills elements first, first + 1, ... of a rank's tensor.
  using Make = std::function<void(std::uint32_t rank, std::uint64_t first, std::span<float>)>;

  /// Holds up to `most_bytes`; values over that limit are recomputed on each read. `format`: a tensor
  /// type that all values are rounded to
  ValueCache(std::uint64_t most_bytes, numerics::ElementFormat format, Make make);

  /// Decodes elements first, first + 1, ... of `rank` into `values`.
  void read(std::uint32_t rank, std::uint64_t first, std::span<float> values);

 private:
  /// Elements per piece: small, since a reader wants a lane of a few thousand; large enough to
  /// amortise a look-up.
  static constexpr std::uint64_t kPiece = 4096;
  static constexpr std::size_t kStripes = 64;  ///< each with its own lock

  using Piece = numerics::AlignedVector<std::byte>;
  struct Stripe {
    std::mutex lock;
    std::unordered_map<std::uint64_t, Piece> pieces;  ///< key: rank and piece number
  };

  std::span<const std::byte> find(std::uint32_t rank, std::uint64_t number);

  numerics::BlockCodec codec_;
  std::size_t most_in_stripe_;
  Make make_;
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace equarx::values
