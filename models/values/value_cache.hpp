// Cache of decoded values, shared by the ranks of a lane.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

namespace equarx::values {

/// Caches pieces of the ranks' tensors from their first read. Thread-safe.
class ValueCache {
 public:
  /// Fills elements first, first + 1, ... of a rank's tensor.
  using Make = std::function<void(std::uint32_t rank, std::uint64_t first, std::span<float>)>;

  /// Holds up to `most_bytes`; pieces over that limit are recomputed on each read.
  ValueCache(std::uint64_t most_bytes, Make make);

  /// Copies elements first, first + 1, ... of `rank` into `values`.
  void read(std::uint32_t rank, std::uint64_t first, std::span<float> values);

 private:
  /// Elements per piece: small, since a reader wants a lane of a few thousand; large enough to
  /// amortise a look-up.
  static constexpr std::uint64_t kPiece = 4096;
  static constexpr std::size_t kStripes = 64;  ///< each with its own lock

  using Piece = std::shared_ptr<const float[]>;
  struct Stripe {
    std::mutex lock;
    std::unordered_map<std::uint64_t, Piece> pieces;  ///< key: rank and piece number
  };

  Piece find(std::uint32_t rank, std::uint64_t number);

  std::size_t most_in_stripe_;
  Make make_;
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace equarx::values
