// Pieces of work that threads do side by side and that are taken in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace equarx::inspect {

/// Does pieces 0, 1, ... on threads of its own, each into one of a few slots, which are used again once
/// their piece has been taken: memory does not grow with the number of pieces. One thread takes them.
class PieceLine {
 public:
  /// Does a piece and leaves the outcome in a slot, which no one else uses meanwhile.
  using Work = std::function<void(std::uint64_t piece, std::size_t slot)>;

  /// Begins to do `pieces` pieces with `threads` threads, at least 1. @throws std::system_error.
  PieceLine(std::uint64_t pieces, unsigned threads, Work work);
  /// Finishes the pieces that were begun and gives up the others.
  ~PieceLine();
  PieceLine(const PieceLine&) = delete;
  PieceLine& operator=(const PieceLine&) = delete;

  /// Slots that `threads` threads use: one each, and the one that was taken.
  static std::size_t slots(unsigned threads) { return std::size_t{threads} + 1; }

  /// The slot of the next piece, the first one at first. It may be read until the next call. Not to be
  /// called after the last piece. Throws what the work on any piece threw.
  std::size_t take();

 private:
  void run();
  /// Waits for a piece to do. False if there is none left.
  bool begin(std::uint64_t& piece);

  const std::uint64_t pieces_;
  const std::size_t slots_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;
  std::uint64_t taken_ = 0;          ///< the last of which may still be read
  std::vector<std::uint64_t> done_;  ///< by slot: how many pieces up to the last one done there
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace equarx::inspect
