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

/// A collective that has run: its plan, the program for its values, and where to compare bits.
struct Ran {
  const plan::CollectivePlan& plan;
  const config::ExperimentConfig& config;
  const values::TensorSource& source;
  const collectives::Program& program;  ///< values_program()
  const ContractOptions& options;
};

/// Computes kWindows parts of the result, for comparisons.
values::Windows reference_of(const Ran& ran);

/// Tries other cuts, and notes whether bits agree with `reference`.
void check_cuts(const Ran& ran, const values::Windows& reference, CollectiveContract& contract);

/// Runs on 1, 2, 4, ... ranks, and compares with `reference`.
void check_ranks(const Ran& ran, const values::Windows& reference, CollectiveContract& contract);

/// Runs all collectives at other sizes, from the smallest on.
void check_sizes(const config::ExperimentConfig& config, const ContractOptions& options,
                 Contract& contract);

/// The candidate that a run has chosen.
const plan::CollectivePlan& chosen(const plan::PlannedCollective& planned,
                                   config::Algorithm algorithm, hardware::Protocol protocol);

}  // namespace equarx::contract
