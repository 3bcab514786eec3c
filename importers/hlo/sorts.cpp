#include "importers/hlo/sorts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace equarx::hlo {
namespace {

bool selects(const Instruction& instruction) {
  const std::string_view target = instruction.attribute("custom_call_target");
  return instruction.opcode == "topk" || target == "TopK" || target == "__gpu$TopK";
}

/// Length of the last axis of the result, or of its first element.
double selected(const Instruction& instruction) {
  const Shape* shape = &instruction.shape;
  if (shape->is_tuple && !shape->parts.empty()) shape = &shape->parts.front();
  return shape->lengths.empty() ? 1.0 : static_cast<double>(shape->lengths.back());
}

}  // namespace

bool sorts(const Instruction& instruction) {
  return instruction.opcode == "sort" || selects(instruction) ||
         instruction.attribute("custom_call_target").find("sort") != std::string_view::npos;
}

double comparisons(const Instruction& instruction, const Computation& computation) {
  const Instruction* keys = operand_of(instruction, 0, computation);
  if (keys == nullptr || keys->shape.is_tuple || keys->shape.lengths.empty()) return 0.0;
  const std::vector<std::int64_t>& lengths = keys->shape.lengths;
  const std::vector<std::int64_t> axes = numbers_in(instruction.attribute("dimensions"));
  const std::size_t last = lengths.size() - 1;
  const std::size_t axis =
      axes.empty() ? last : std::min(static_cast<std::size_t>(axes.front()), last);
  double row = static_cast<double>(lengths[axis]);
  if (selects(instruction)) row = std::min(row, selected(instruction));
  return keys->shape.elements() * std::log2(std::max(row, 2.0));
}

}  // namespace equarx::hlo
