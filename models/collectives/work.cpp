#include "models/collectives/work.hpp"

#include <stdexcept>

#include "models/formats/vector_work.hpp"

namespace equarx::collectives {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr double kBitsPerByte = 8.0;
constexpr double kFp32Bytes = 4.0;

// ALU operations per element, counted as models/formats/vector_work.hpp counts those of formats.
constexpr double kAdd = 1.0;
constexpr double kScale = 1.0;      // multiply by a scale or its reciprocal
constexpr double kAbsMax = 2.0;     // abs, max
constexpr double kMakeScale = 8.0;  // divide by the largest code, reciprocal, round

double element_bytes(ElementFormat format) {
  return static_cast<double>(numerics::element_bits(format)) / kBitsPerByte;
}

/// How the local operand of an instruction lies in memory. A rank's own tensor is an array in HBM, as
/// the operands of a collective are in XLA; sums and wire buffers of the minishards under way stay in
/// VMEM. Sums are FP32 where hops are quantized; a plain ring keeps them in its own format.
ElementFormat operand_format(const Program& program, Operand operand) {
  switch (operand) {
    case Operand::input: return program.tensor_format;
    case Operand::sums: return ElementFormat::fp32;
    case Operand::rounded_sums: return program.format(Phase::reduce_scatter).element;
  }
  throw std::logic_error("unknown operand");
}

/// From one type to another, both in HBM: the operation of its own that a cast is before a collective,
/// whose operand has to lie in memory.
Work cast(ElementFormat from, ElementFormat to) {
  const double bytes = element_bytes(from) + element_bytes(to);
  return {numerics::decode_operations(from) + numerics::encode_operations(to), bytes, bytes};
}

Work per_element(const Program& program, const Instruction& instruction) {
  const BlockFormat& wire = program.format(instruction.phase);
  const ElementFormat operand = operand_format(program, instruction.operand);
  const double scaling = wire.scaled ? kScale : 0.0;
  const double decode_wire = numerics::decode_operations(wire.element) + scaling;
  const double encode_wire = numerics::encode_operations(wire.element) + scaling;
  const double decode_operand = numerics::decode_operations(operand);
  const double wire_bytes = element_bytes(wire.element);
  const double operand_bytes = element_bytes(operand);
  const double result_bytes = element_bytes(program.tensor_format);
  const double hbm_bytes = instruction.operand == Operand::input ? operand_bytes : 0.0;
  switch (instruction.op) {
    case Op::find_scales: return {decode_operand + kAbsMax, operand_bytes, hbm_bytes};
    case Op::quantize: return {decode_operand + encode_wire, operand_bytes + wire_bytes, hbm_bytes};
    case Op::accumulate:
      return {decode_wire + decode_operand + kAdd + (instruction.finds_scales ? kAbsMax : 0.0),
              wire_bytes + operand_bytes + kFp32Bytes, hbm_bytes};
    case Op::add:
      return {decode_wire + decode_operand + kAdd + encode_wire,
              wire_bytes + operand_bytes + wire_bytes, hbm_bytes};
    case Op::reduce: {
      const double terms = program.grid().span(instruction.origin.gathered);
      return {terms * (decode_wire + kAdd), terms * wire_bytes + kFp32Bytes, 0.0};
    }
    case Op::dequantize: {
      const double shards = program.grid().span(instruction.origin.gathered);
      return {shards * (decode_wire + numerics::encode_operations(program.tensor_format)),
              shards * (wire_bytes + result_bytes), shards * result_bytes};
    }
    case Op::store:
      return {decode_operand + numerics::encode_operations(program.tensor_format),
              operand_bytes + result_bytes, result_bytes};
    case Op::cast: return cast(program.cast_from.value(), program.tensor_format);
    case Op::cast_back: return cast(program.tensor_format, program.cast_from.value());
    default: throw std::logic_error("not vector work on elements");
  }
}

}  // namespace

Work work_of(const Program& program, const Instruction& instruction) {
  if (!is_vector_work(instruction.op)) throw std::logic_error("not vector work");
  const Tile& tile = instruction.tile;
  if (instruction.op == Op::encode_scales) {
    const BlockFormat& wire = program.format(instruction.phase);
    const std::size_t scales =
        numerics::scale_count(wire, program.partition.minishard(tile).size());
    const double operations = kMakeScale + (wire.tensor_scale ? kAbsMax + kScale : 0.0);
    const auto count = static_cast<double>(scales);
    return {count * operations,
            count * kFp32Bytes + static_cast<double>(numerics::scales_bytes(wire, scales)), 0.0};
  }
  const auto elements = static_cast<double>(program.partition.microshard(tile).size());
  const Work one = per_element(program, instruction);
  return {elements * one.alu_operations, elements * one.vmem_bytes, elements * one.hbm_bytes};
}

}  // namespace equarx::collectives
