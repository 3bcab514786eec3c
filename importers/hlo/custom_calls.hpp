// Work of custom-calls as the user gives it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Work of one execution.
struct CustomCall {
  double flops = 0.0;           ///< of GEMMs
  std::optional<double> bytes;  ///< HBM traffic; absent: operands and results
};

/// By target, by name of an instruction, or by its name without the number at its end, which is the
/// name of a Pallas kernel: "splash_mha_fwd" of "splash_mha_fwd.3".
using CustomCalls = std::map<std::string, CustomCall>;

/// Returns the given work of an instruction; nullptr if there is none, or it is not a custom-call.
const CustomCall* given_for(const Instruction& instruction, const CustomCalls& calls);

/// @throws exceptions::UserError for a name that no custom-call of the module has
void check_names(const CustomCalls& calls, const Module& module);

}  // namespace equarx::hlo
