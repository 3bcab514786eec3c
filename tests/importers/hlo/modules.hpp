// Small HLO modules.
#pragma once

#include <string>

#include "importers/hlo/parser.hpp"

namespace equarx::testing {

/// A module with these lines in its entry; `before`: other computations.
inline std::string hlo_text(const std::string& lines, const std::string& before = "",
                            const std::string& header = "is_scheduled=true, num_partitions=8") {
  return "HloModule test, " + header + "\n\n" + before +
         "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] "
         "parameter(1)\n"
         "  ROOT %c = f32[] add(%a, %b)\n}\n\nENTRY %main () -> f32[] {\n" +
         lines + "}\n";
}

inline hlo::Module hlo_module(const std::string& lines, const std::string& before = "",
                              const std::string& header = "is_scheduled=true, num_partitions=8") {
  return hlo::parse_module(hlo_text(lines, before, header));
}

/// Instruction of the entry called `name`.
inline const hlo::Instruction& instruction_of(const hlo::Module& module, const std::string& name) {
  for (const hlo::Instruction& instruction : module.computations[module.entry].instructions)
    if (instruction.name == name) return instruction;
  throw std::logic_error("no instruction " + name);
}

inline const hlo::Computation& entry_of(const hlo::Module& module) {
  return module.computations[module.entry];
}

}  // namespace equarx::testing
