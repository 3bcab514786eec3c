// Lower bounds of the times of unquantized collectives.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"

namespace equarx::tune_layouts {

/// A collective over mesh axes.
struct AxesCall {
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<std::string> axes;  ///< the mesh may lack some
  double elements = 0.0;          ///< as of steps::CollectiveCall
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
};

/// Computes bounds, and keeps them by the topology of a group.
class CollectiveFloors {
 public:
  /// `machine` must outlive this object.
  explicit CollectiveFloors(const config::ExperimentConfig& machine) : machine_(&machine) {}

  /// Least time in s of a collective that every chip runs; 0 if its groups are single chips, or do not lie
  /// along axes of the machine.
  double seconds(const steps::Mesh& mesh, const AxesCall& call);

 private:
  const config::ExperimentConfig* machine_;
  std::map<std::string, double> known_;
};

}  // namespace equarx::tune_layouts
