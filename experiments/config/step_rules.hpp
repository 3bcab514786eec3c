// "variants" of a step configuration: rules that assign algorithms and formats to its collectives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/step.hpp"

namespace equarx::config {

/// Filter of a rule ("where"); an absent field matches all collectives.
struct CallFilter {
  std::optional<collectives::Collective> collective;
  std::optional<std::string> axis;   ///< an axis of the collective
  std::optional<std::string> group;  ///< task group

  bool matches(const StepCall& step_call, const steps::Mesh& mesh) const;
};

/// Reads "where" of a rule, if it has one. @throws input::InputError
CallFilter read_where(input::ObjectReader& rule, const steps::Mesh& mesh);

/// @throws input::InputError at `pointer`, listing the collectives, if the filter matches none
void check_matches(const CallFilter& filter, const std::vector<StepCall>& calls,
                   const steps::Mesh& mesh, const std::string& pointer);

/// Reads the variants of a step with collectives `calls`; without "variants", a single unquantized
/// one. The first matching rule of a variant applies; collectives without a matching rule are
/// unquantized and use usual_algorithm(). @throws input::InputError if a rule is invalid or matches
/// no collective
std::vector<StepVariant> read_variants(input::ObjectReader& reader, const ExperimentConfig& machine,
                                       const steps::Mesh& mesh, const std::vector<StepCall>& calls,
                                       const std::vector<steps::ChipLists>& lists);

/// Schema of "where" of a rule, with annotations.
input::Json where_schema();
/// Schema of "variants", with annotations.
input::Json variants_schema();

}  // namespace equarx::config
