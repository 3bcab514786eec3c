#include "importers/hlo/contents.hpp"

#include <algorithm>

#include "importers/hlo/collectives.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

class Counter {
 public:
  explicit Counter(const Module& module)
      : module_(module),
        counted_(module.computations.size(), false),
        contents_(module.computations.size()) {}

  std::vector<Contents> count() {
    for (ComputationId id = 0; id < contents_.size(); ++id) count(id);
    return std::move(contents_);
  }

 private:
  const Contents& count(ComputationId id) {
    if (counted_[id]) return contents_[id];
    counted_[id] = true;
    Contents sum;
    for (const Instruction& instruction : module_.computations[id].instructions) {
      const OpClass kind = class_of(split(instruction.opcode).base);
      sum += {.collectives = is_collective(instruction) ? std::uint64_t{1} : 0,
              .has_control_flow = kind == OpClass::loop || kind == OpClass::conditional};
      for (const ComputationId called : instruction.called) sum += count(called);
    }
    return contents_[id] = sum;
  }

  const Module& module_;
  std::vector<bool> counted_;
  std::vector<Contents> contents_;
};

}  // namespace

Contents& operator+=(Contents& sum, const Contents& other) {
  sum.collectives = std::min(sum.collectives + other.collectives, kMostCollectives);
  sum.has_control_flow = sum.has_control_flow || other.has_control_flow;
  return sum;
}

bool is_collective(const Instruction& instruction) {
  const SplitOpcode opcode = split(instruction.opcode);
  return opcode.end != AsyncEnd::done && opcode.end != AsyncEnd::update &&
         collective_kind(opcode.base).has_value();
}

bool runs_called(const Instruction& instruction) {
  const SplitOpcode opcode = split(instruction.opcode);
  if (opcode.end == AsyncEnd::done || opcode.end == AsyncEnd::update) return false;
  if (is_collective(instruction)) return false;  // a reduction is applied to elements
  const OpClass kind = class_of(opcode.base);
  return opcode.end == AsyncEnd::start || kind == OpClass::nested || kind == OpClass::custom;
}

std::vector<Contents> contents_of(const Module& module) { return Counter(module).count(); }

}  // namespace equarx::hlo
