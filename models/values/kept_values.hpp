// Values that were made once, for those who need them again.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace equarx::values {

/// Pieces of ranks' tensors, kept from when they were first read. Thread-safe.
class KeptValues {
 public:
  /// Fills elements first, first + 1, ... of a rank's tensor.
  using Make = std::function<void(std::uint32_t rank, std::uint64_t first, std::span<float>)>;

  /// Keeps up to `most_bytes`; what is beyond is made each time.
  KeptValues(std::uint64_t most_bytes, Make make);

  /// Elements first, first + 1, ... of `rank`.
  void read(std::uint32_t rank, std::uint64_t first, std::span<float> values);

 private:
  /// Elements of a piece: few, because readers want lanes of a few thousand; many beside what finding one costs.
  static constexpr std::uint64_t kPiece = 4096;
  static constexpr std::size_t kShelves = 64;  ///< each with a lock of its own

  using Piece = std::shared_ptr<const std::vector<float>>;
  struct Shelf {
    std::mutex lock;
    std::unordered_map<std::uint64_t, Piece> pieces;  ///< by rank and number
  };

  Piece find(std::uint32_t rank, std::uint64_t number);

  std::size_t most_in_shelf_;
  Make make_;
  std::array<Shelf, kShelves> shelves_;
};

}  // namespace equarx::values
