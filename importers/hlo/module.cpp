#include "importers/hlo/module.hpp"

#include <algorithm>
#include <cctype>

namespace equarx::hlo {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 62;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of the bracketed text at the start of `text`, including brackets; all of it if
/// unbalanced.
std::size_t bracketed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == '}' || text[i] == ']') && --depth == 0) return i + 1;
  }
  return text.size();
}

}  // namespace

std::string_view Instruction::attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes)
    if (name == key) return value;
  return {};
}

std::uint64_t Module::instructions() const {
  std::uint64_t sum = 0;
  for (const Computation& computation : computations) sum += computation.instructions.size();
  return sum;
}

const Instruction* operand_of(const Instruction& instruction, std::size_t number,
                              const Computation& computation) {
  if (number >= instruction.operands.size() || instruction.operands[number] == kNoInstruction)
    return nullptr;
  return &computation.instructions[instruction.operands[number]];
}

std::optional<ComputationId> called_by(const Instruction& instruction, std::string_view key,
                                       const Module& module) {
  std::string_view name = instruction.attribute(key);
  if (name.starts_with("%")) name.remove_prefix(1);
  for (const ComputationId id : instruction.called)
    if (module.computations[id].name == name) return id;
  return std::nullopt;
}

std::optional<std::string_view> json_value(std::string_view json, std::string_view key) {
  std::string quoted;
  quoted.append(1, '"').append(key).append(1, '"');
  std::size_t at = json.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  at += quoted.size();
  while (at < json.size() && (json[at] == ' ' || json[at] == ':')) ++at;
  if (at >= json.size()) return std::nullopt;
  const std::string_view rest = json.substr(at);
  if (rest.front() == '{' || rest.front() == '[') return rest.substr(0, bracketed(rest));
  if (rest.front() == '"') return rest.substr(1, rest.find('"', 1) - 1);
  return rest.substr(0, rest.find_first_of(",}] "));
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  constexpr std::int64_t kBase = 10;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    std::int64_t number = 0;
    for (; i < text.size() && is_digit(text[i]); ++i)
      number = number > kMaxNumber / kBase - 1 ? kMaxNumber : number * kBase + (text[i] - '0');
    numbers.push_back(std::min(number, kMaxNumber));
  }
  return numbers;
}

}  // namespace equarx::hlo
