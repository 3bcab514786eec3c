// Lazily aggregated gradients: workers send a gradient only if it has changed enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "models/lazy/quantizer.hpp"

namespace equarx::lazy {

/// Rule of LAQ (Sun et al., arXiv 1909.07588, eq. 7), and LAG without bits (Chen et al., arXiv
/// 1805.09965, LAG-WK). A worker sends if the squared norm of the change of its gradient since it
/// last sent is at least
///   weight / (rate workers)^2 x sum of the squared norms of the last `memory` changes of parameters
///   + error_weight x (squared error of its quantized gradient, and of the one it last sent)
/// or if it has not sent in `at_most` rounds. With both weights 0, all workers send in every round.
struct Rule {
  std::optional<std::uint32_t> bits = 4;  ///< per element; FP32 is sent if absent
  double rate = 0.0;                      ///< of gradient descent, above 0
  std::uint32_t memory = 10;              ///< D
  double weight = 0.08;                   ///< xi of each change
  double error_weight = 3.0;
  std::uint32_t at_most = 100;  ///< C
};

/// The state of all workers for one bucket of gradients, and of their server.
class Workers {
 public:
  /// @throws std::invalid_argument if a number of the rule is out of range, or there is no worker or
  /// element
  Workers(const Rule& rule, std::uint32_t workers, std::size_t elements);

  /// One round. `gradients`: of worker after worker, at `parameters`. Returns the workers that send;
  /// the first round has all of them. @throws std::invalid_argument if a size is another, or a value
  /// not finite; then nothing has changed
  std::vector<bool> round(std::span<const double> gradients, std::span<const double> parameters);

  std::uint32_t workers() const { return static_cast<std::uint32_t>(silent_.size()); }
  std::size_t elements() const { return elements_; }
  /// Sum of the gradients last sent, in the order of workers.
  std::vector<double> sum() const;
  /// Bits of all messages so far.
  std::uint64_t bits() const { return bits_; }

 private:
  Rule rule_;
  std::size_t elements_;
  std::vector<double> sent_;           ///< last gradient, of worker after worker
  std::vector<double> sent_error_;     ///< its squared error, by worker
  std::vector<std::uint32_t> silent_;  ///< rounds since then, by worker
  std::vector<double> parameters_;     ///< of the last round; empty before the first
  std::deque<double> moved_;           ///< squared norms of changes of parameters, last first
  std::uint64_t bits_ = 0;
};

}  // namespace equarx::lazy
