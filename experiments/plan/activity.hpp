// Work of collectives, for their energy.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/work.hpp"
#include "models/hardware/energy.hpp"
#include "sim/machine.hpp"

namespace equarx::plan {

/// Vector operations and VMEM bytes of all ranks of a program together and, unless HBM is shared with
/// DMAs, its HBM bytes, also of DMAs from the tensor and to the result.
hardware::Activity vector_activity(const collectives::Program& program,
                                   collectives::WireBuffers buffers);

/// The same with the kinds of the program's instructions, with wire buffers in VMEM.
hardware::Activity vector_activity(const collectives::Program& program, const CostKinds& kinds);

/// Bytes over the links and networks of a machine and, if DMAs share HBM, of its HBMs. `link_bytes`:
/// by link
hardware::Activity traffic_activity(const sim::Machine& machine,
                                    const std::vector<std::uint64_t>& link_bytes);

/// Activity of all ranks of a collective that runs alone for `time_s`.
hardware::Activity collective_activity(const CollectivePlan& plan, const hardware::Chip& chip,
                                       collectives::WireBuffers buffers, double time_s);

/// Energy and cost of all ranks of a collective that runs alone for `time_s`.
hardware::Expenses collective_expenses(const CollectivePlan& plan,
                                       const config::ExperimentConfig& config, double time_s);

}  // namespace equarx::plan
