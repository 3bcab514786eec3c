// Processor sharing of a chip's core.
#pragma once

#include <cstddef>
#include <vector>

namespace equarx::sim {

/// A core shared by several streams: each of n busy streams advances at 1/n of its speed.
class SharedCore {
 public:
  explicit SharedCore(std::size_t streams) : left_s_(streams), busy_(streams) {}

  /// An idle stream becomes busy with `core_s` of work.
  void begin(std::size_t stream, double core_s, double now_s) {
    settle(now_s);
    left_s_[stream] = core_s;
    busy_[stream] = true;
    ++sharers_;
  }
  /// A stream has finished its work.
  void end(std::size_t stream, double now_s) {
    settle(now_s);
    busy_[stream] = false;
    --sharers_;
  }
  bool busy(std::size_t stream) const { return busy_[stream]; }
  bool idle() const { return sharers_ == 0.0; }
  /// Returns the busy stream that finishes first. Precondition: !idle().
  std::size_t first_to_end() const {
    std::size_t first = left_s_.size();
    for (std::size_t stream = 0; stream < left_s_.size(); ++stream)
      if (busy_[stream] && (first == left_s_.size() || left_s_[stream] < left_s_[first]))
        first = stream;
    return first;
  }
  /// Work left of a busy stream.
  double left_s(std::size_t stream, double now_s) const {
    return left_s_[stream] - (now_s - since_s_) / sharers_;
  }
  /// Moves all times by `shift_s`.
  void shift(double shift_s) { since_s_ += shift_s; }
  /// Does a part of the work of a busy stream.
  void do_part(std::size_t stream, double core_s) { left_s_[stream] -= core_s; }
  /// Finish time of a busy stream if no stream begins or ends before.
  double end_s(std::size_t stream) const { return since_s_ + left_s_[stream] * sharers_; }

 private:
  void settle(double now_s) {
    for (std::size_t stream = 0; stream < left_s_.size(); ++stream)
      if (busy_[stream]) left_s_[stream] -= (now_s - since_s_) / sharers_;
    since_s_ = now_s;
  }

  std::vector<double> left_s_;
  std::vector<char> busy_;
  double sharers_ = 0.0;  ///< number of busy streams
  double since_s_ = 0.0;
};

}  // namespace equarx::sim
