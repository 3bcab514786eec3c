// The core of a chip, which several lists of work share.
#pragma once

#include <cstddef>
#include <vector>

namespace equarx::sim {

/// A core that several lists of work share: of n that have some, each advances at 1/n of its speed.
class SharedCore {
 public:
  explicit SharedCore(std::size_t lists) : left_s_(lists), busy_(lists) {}

  /// A list has `core_s` of work, and had none.
  void begin(std::size_t list, double core_s, double now_s) {
    settle(now_s);
    left_s_[list] = core_s;
    busy_[list] = true;
    ++sharers_;
  }
  /// A list has done its work.
  void end(std::size_t list, double now_s) {
    settle(now_s);
    busy_[list] = false;
    --sharers_;
  }
  bool busy(std::size_t list) const { return busy_[list]; }
  bool idle() const { return sharers_ == 0.0; }
  /// Of the lists that are busy, the one that will have done its work first; not if all are idle.
  std::size_t first_to_end() const {
    std::size_t first = left_s_.size();
    for (std::size_t list = 0; list < left_s_.size(); ++list)
      if (busy_[list] && (first == left_s_.size() || left_s_[list] < left_s_[first])) first = list;
    return first;
  }
  /// When a list that is busy will have done its work, if nothing changes.
  double end_s(std::size_t list) const { return since_s_ + left_s_[list] * sharers_; }

 private:
  void settle(double now_s) {
    for (std::size_t list = 0; list < left_s_.size(); ++list)
      if (busy_[list]) left_s_[list] -= (now_s - since_s_) / sharers_;
    since_s_ = now_s;
  }

  std::vector<double> left_s_;
  std::vector<char> busy_;
  double sharers_ = 0.0;  ///< how many lists are busy
  double since_s_ = 0.0;
};

}  // namespace equarx::sim
