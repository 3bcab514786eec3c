#include "importers/hlo/custom_calls.hpp"

#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

bool is_custom_call(const Instruction& instruction) {
  return split(instruction.opcode).base == "custom-call";
}

std::string_view without_number(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const bool has_number = dot != std::string_view::npos && dot + 1 < name.size() &&
                          name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return has_number ? name.substr(0, dot) : name;
}

bool is_named(const Instruction& instruction, std::string_view name) {
  return instruction.name == name || without_number(instruction.name) == name ||
         instruction.attribute("custom_call_target") == name;
}

}  // namespace

const CustomCall* given_for(const Instruction& instruction, const CustomCalls& calls) {
  if (!is_custom_call(instruction)) return nullptr;
  for (const std::string_view name :
       {std::string_view(instruction.name), without_number(instruction.name),
        instruction.attribute("custom_call_target")})
    if (const auto found = calls.find(std::string(name)); found != calls.end())
      return &found->second;
  return nullptr;
}

void check_names(const CustomCalls& calls, const Module& module) {
  for (const auto& [name, call] : calls) {
    std::set<std::string> others;
    bool is_used = false;
    for (const Computation& computation : module.computations)
      for (const Instruction& instruction : computation.instructions) {
        if (!is_custom_call(instruction)) continue;
        is_used = is_used || is_named(instruction, name);
        others.insert(std::string(instruction.attribute("custom_call_target")));
      }
    if (is_used) continue;
    throw exceptions::UserError(
        "--custom-call",
        others.empty()
            ? fmt::format("the program has no custom-calls, so none '{}'", name)
            : fmt::format("the program has no custom-call '{}'; name a target ({}) or an "
                          "instruction",
                          name, fmt::join(others, ", ")));
  }
}

}  // namespace equarx::hlo
