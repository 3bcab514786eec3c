// Collectives run again, with other sizes, cuts and ranks, for the bits of some elements.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/contract/contract.hpp"
#include "experiments/plan/plan.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::contract {

/// Returns the program of a plan, cut into more messages where that changes no value: formats without
/// scales. Values then need less memory.
collectives::Program values_program(const plan::CollectivePlan& plan,
                                    const config::ExperimentConfig& config);

/// Computes parts of a result.
void compute(const collectives::Program& program, const config::TensorConfig& tensor,
             const values::TensorSource& source, unsigned threads, values::Windows& windows);

/// Tries other cuts of a collective that has run as `plan`, and notes whether bits agree.
void check_cuts(const plan::CollectivePlan& plan, const config::ExperimentConfig& config,
                const values::TensorSource& source, unsigned threads, CollectiveContract& contract);

/// Runs a collective that has run as `plan` on 1, 2, 4, ... ranks.
void check_ranks(const plan::CollectivePlan& plan, const config::ExperimentConfig& config,
                 const values::TensorSource& source, unsigned threads,
                 CollectiveContract& contract);

/// Runs all collectives at other sizes.
void check_sizes(const config::ExperimentConfig& config, const ContractOptions& options,
                 Contract& contract);

/// The candidate that a run has chosen.
const plan::CollectivePlan& chosen(const plan::PlannedCollective& planned,
                                   config::Algorithm algorithm, hardware::Protocol protocol);

}  // namespace equarx::contract
