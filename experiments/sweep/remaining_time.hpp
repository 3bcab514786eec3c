// Remaining time of points that are computed in parallel, from their estimated work.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace equarx::sweep {

/// Extrapolates from the time that computed points took to the work of the others. Times are in
/// seconds of any clock.
class RemainingTime {
 public:
  /// `work` of all points, computed by so many processes.
  RemainingTime(double work, std::size_t processes) : left_(work), processes_(processes) {}

  void start(std::size_t job, double work, double now_s);
  void finish(std::size_t job, double now_s);
  /// Subtracts the work of a point that need not be computed.
  void skip(double work) { left_ -= work; }

  /// std::nullopt until a point has been computed.
  std::optional<double> at(double now_s) const;

 private:
  struct Running {
    double work = 0.0;
    double start_s = 0.0;
  };

  double left_;  ///< work of the points that have not started
  std::size_t processes_;
  std::map<std::size_t, Running> running_;  ///< by job
  double finished_ = 0.0;                   ///< work of computed points
  double finished_s_ = 0.0;                 ///< time that these took, summed
};

}  // namespace equarx::sweep
