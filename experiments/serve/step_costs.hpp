// Times of the steps of a pool of replicas, for any batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "experiments/config/serving.hpp"
#include "experiments/step/plan.hpp"
#include "models/serving/replica.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::serve {

/// Times the operations of a batch as a step does, and interpolates the exposed communication
/// between steps simulated with some numbers of positions. Without chunks every layer exposes the
/// same time, so steps of one layer suffice. Not for concurrent use.
class StepCosts {
 public:
  /// Interpolation error aimed at, as a share of the step.
  static constexpr double kTolerance = 0.01;

  /// Simulates steps on up to `threads` threads; `pool` must outlive this object.
  /// @throws input::InputError as running a step
  StepCosts(const config::PoolConfig& pool, unsigned threads);

  /// With the communication of another pool, whose machine, mesh, model, chunks, AllReduces and
  /// tokens per step are the same.
  StepCosts(const config::PoolConfig& pool, const StepCosts& other);

  /// The steps that `nominal` simulated, on the machine of `pool`, whose parameters differ from those
  /// of its own pool. All operations and collectives take `factor` times as long.
  StepCosts(const config::PoolConfig& pool, const StepCosts& nominal, double factor);

  /// Time of a step of a replica.
  serving::StepTime time(const workloads::Batch& batch) const;

  /// Exposed communication of a step with this many positions, in s, without the factor.
  double communication_s(double rows) const;

  /// Number of simulated steps.
  std::size_t simulated() const { return communication_.size(); }
  /// Messages of all simulated steps.
  double messages() const { return messages_; }
  /// Largest error of an interpolated step time that was found, relative to a simulated one.
  double interpolation_error() const { return error_; }

 private:
  double rest_s(const workloads::Batch& batch) const;
  std::uint32_t chunks(double rows) const;
  double attention_s(const workloads::Batch::Layer& layer, std::uint32_t chunks) const;
  double total_s(const std::vector<workloads::Operation>& operations, std::uint32_t chunks) const;
  double chunked_s(const workloads::Operation& operation, std::uint32_t chunks) const;
  std::vector<double> plan(const std::vector<std::uint64_t>& rows, unsigned threads);
  void simulate(unsigned threads);

  const config::PoolConfig& pool_;
  workloads::ComputeRates rates_;
  std::map<std::uint64_t, double> communication_;                         ///< s, by positions
  std::map<std::uint64_t, std::shared_ptr<const step::StepPlan>> plans_;  ///< likewise
  double messages_ = 0.0;
  double factor_ = 1.0;
  double error_ = 0.0;
  mutable std::unordered_map<std::uint64_t, double> rest_;  ///< of rest_s(), by rows and logits
};

}  // namespace equarx::serve
