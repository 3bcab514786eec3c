// Work items processed by threads in parallel and consumed in order.
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

/// Processes pieces 0, 1, ... on threads of its own, each into one of a few slots. A slot is reused
/// after its piece has been consumed: memory does not grow with the number of pieces. A single
/// thread consumes them.
class PieceLine {
 public:
  /// Processes a piece into a slot, with exclusive access to it.
  using Work = std::function<void(std::uint64_t piece, std::size_t slot)>;

  /// Starts processing `pieces` pieces on up to `threads` threads, as many as the system allows. Without any, take()
  /// processes the next piece.
  PieceLine(std::uint64_t pieces, unsigned threads, Work work);
  /// Finishes started pieces and drops the others.
  ~PieceLine();
  PieceLine(const PieceLine&) = delete;
  PieceLine& operator=(const PieceLine&) = delete;

  /// Slots for `threads` threads: one per thread, and the one being consumed.
  static std::size_t slots(unsigned threads) { return std::size_t{threads} + 1; }

  /// Waits for the next piece, in order, and returns its slot, which stays valid until the next
  /// call. Must not be called after the last piece. Rethrows any exception of the work.
  std::size_t take();

 private:
  void run();
  /// Waits for a piece to process. Returns false if none is left.
  bool begin(std::uint64_t& piece);

  const std::uint64_t pieces_;
  const std::size_t slots_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;
  std::uint64_t taken_ = 0;          ///< the last one taken may still be read
  std::vector<std::uint64_t> done_;  ///< by slot: index + 1 of the last piece processed there
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace equarx::inspect
