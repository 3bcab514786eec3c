#include "experiments/inspect/piece_line.hpp"

#include <utility>

#include "base/os/threads.hpp"

namespace equarx::inspect {

PieceLine::PieceLine(std::uint64_t pieces, unsigned threads, Work work)
    : pieces_(pieces), slots_(slots(threads)), work_(std::move(work)), done_(slots_) {
  os::add_threads(threads_, threads, [this] { run(); });
}

PieceLine::~PieceLine() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins the threads before the members they use are destroyed
}

std::size_t PieceLine::take() {
  if (threads_.empty()) {
    const std::uint64_t piece = taken_++;
    work_(piece, piece % slots_);
    return piece % slots_;
  }
  std::unique_lock lock(mutex_);
  const std::uint64_t piece = taken_++;
  changed_.notify_all();  // the previously taken slot is free
  const std::size_t slot = piece % slots_;
  changed_.wait(lock, [&] { return failure_ || done_[slot] == piece + 1; });
  if (failure_) std::rethrow_exception(failure_);
  return slot;
}

bool PieceLine::begin(std::uint64_t& piece) {
  std::unique_lock lock(mutex_);
  // The slot of the last taken piece may still be in use.
  const auto has_slot = [&] { return begun_ + 1 < taken_ + slots_ || begun_ < slots_; };
  changed_.wait(lock, [&] { return stopping_ || begun_ == pieces_ || has_slot(); });
  if (stopping_ || begun_ == pieces_) return false;
  piece = begun_++;
  return true;
}

void PieceLine::run() {
  std::uint64_t piece = 0;
  while (begin(piece)) {
    try {
      work_(piece, piece % slots_);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      stopping_ = true;
    }
    {
      const std::scoped_lock lock(mutex_);
      done_[piece % slots_] = piece + 1;
    }
    changed_.notify_all();
  }
}

}  // namespace equarx::inspect
