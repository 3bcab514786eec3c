// The core of a chip, which the program may share with other work.
#pragma once

#include <array>
#include <cstdint>

namespace equarx::sim {

/// A core that two lists of work share: while both have some, each advances at half its speed.
class SharedCore {
 public:
  static constexpr std::size_t kLists = 2;

  /// A list has `core_s` of work, and had none.
  void begin(std::size_t list, double core_s, double now_s) {
    settle(now_s);
    left_s_[list] = core_s;
    busy_[list] = true;
  }
  /// A list has done its work.
  void end(std::size_t list, double now_s) {
    settle(now_s);
    busy_[list] = false;
  }
  bool busy(std::size_t list) const { return busy_[list]; }
  /// When a list that is busy will have done its work, if nothing changes.
  double end_s(std::size_t list) const { return since_s_ + left_s_[list] * sharers(); }

 private:
  double sharers() const { return busy_[0] && busy_[1] ? 2.0 : 1.0; }
  void settle(double now_s) {
    for (std::size_t list = 0; list < kLists; ++list)
      if (busy_[list]) left_s_[list] -= (now_s - since_s_) / sharers();
    since_s_ = now_s;
  }

  std::array<double, kLists> left_s_{};
  std::array<bool, kLists> busy_{};
  double since_s_ = 0.0;
};

}  // namespace equarx::sim
