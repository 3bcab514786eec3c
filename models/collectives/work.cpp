#include "models/collectives/work.hpp"

#include <stdexcept>

#include "models/formats/vector_work.hpp"

namespace equarx::collectives {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr double kBitsPerByte = 8.0;
constexpr double kFp32Bytes = 4.0;

// ALU operations per element, counted like the formats' in models/formats/vector_work.hpp.
constexpr double kAdd = 1.0;
constexpr double kRotate = 5.0;     // add in butterflies of strides 1, 2, 4, 8, 16
constexpr double kScale = 1.0;      // multiply by a scale or its reciprocal
constexpr double kAmax = 2.0;       // abs, max
constexpr double kMakeScale = 8.0;  // divide by the largest code, reciprocal, round

double element_bytes(ElementFormat format) {
  return static_cast<double>(numerics::element_bits(format)) / kBitsPerByte;
}

/// Format of an instruction's local operand in memory. Sums are FP32 if hops are quantized; a plain
/// ring keeps them in its own format.
ElementFormat operand_format(const Program& program, Operand operand) {
  switch (operand) {
    case Operand::input: return program.tensor_format;
    case Operand::sums: return ElementFormat::fp32;
    case Operand::rounded_sums: return program.format(Phase::reduce_scatter).element;
  }
  throw std::logic_error("unknown operand");
}

/// Bytes by kind of data. All pass through VMEM.
struct Bytes {
  double array = 0.0;  ///< the rank's tensor and the result
  double sums = 0.0;   ///< FP32 sums of the minishards in flight
  double wire = 0.0;   ///< sent and received data; sums that are sent as they are
};

struct ElementWork {
  double alu_operations = 0.0;
  Bytes bytes;
};

/// A rank's own tensor is an array in HBM, like the operands of a collective in XLA; sums of the
/// minishards in flight stay in VMEM.
double hbm_bytes(const Bytes& bytes, WireBuffers buffers) {
  return bytes.array + (buffers == WireBuffers::hbm ? bytes.wire : 0.0);
}

Work times(double count, const ElementWork& each, WireBuffers buffers) {
  const Bytes& bytes = each.bytes;
  return {count * each.alu_operations, count * (bytes.array + bytes.sums + bytes.wire),
          count * hbm_bytes(bytes, buffers)};
}

/// Cast between types, both in HBM, as a separate operation before or after a collective. Applies
/// the shared scale, if there is one; `rotation`: its operations.
ElementWork cast(const Program& program, ElementFormat from, ElementFormat to, double rotation) {
  const bool scales = numerics::has_shared_scale(program.format(Phase::reduce_scatter));
  return {numerics::decode_operations(from) + numerics::encode_operations(to) +
              (scales ? kScale : 0.0) + rotation,
          {.array = element_bytes(from) + element_bytes(to)}};
}

/// Location of the local operand. Rounded sums are sent from the location where `add` left them, so
/// the next instruction reads them there.
Bytes operand_bytes(const Program& program, Operand operand) {
  const double bytes = element_bytes(operand_format(program, operand));
  switch (operand) {
    case Operand::input: return {.array = bytes};
    case Operand::sums: return {.sums = bytes};
    case Operand::rounded_sums: return {.wire = bytes};
  }
  throw std::logic_error("unknown operand");
}

ElementWork per_element(const Program& program, const Instruction& instruction) {
  const BlockFormat& wire = program.format(instruction.phase);
  const ElementFormat operand = operand_format(program, instruction.operand);
  const double scaling = numerics::sends_scales(wire) ? kScale : 0.0;
  const double decode_wire = numerics::decode_operations(wire) + scaling;
  const double encode_wire = numerics::encode_operations(wire) + scaling;
  const double decode_operand = numerics::decode_operations(operand);
  const double wire_bytes = numerics::element_bytes(wire);
  const double result_bytes = element_bytes(program.tensor_format);
  Bytes bytes = operand_bytes(program, instruction.operand);
  switch (instruction.op) {
    case Op::find_scales: return {decode_operand + kAmax, bytes};
    case Op::quantize: bytes.wire += wire_bytes; return {decode_operand + encode_wire, bytes};
    case Op::scale: bytes.sums += kFp32Bytes; return {decode_operand + kScale, bytes};
    case Op::accumulate:
      bytes.wire += wire_bytes;
      bytes.sums += kFp32Bytes;
      return {decode_wire + decode_operand + kAdd + (instruction.finds_scales ? kAmax : 0.0) +
                  (program.graph ? kScale : 0.0),
              bytes};
    case Op::add:
      bytes.wire += 2.0 * wire_bytes;  // reads one, writes one
      if (numerics::adds_by_code(wire)) return {numerics::kExp8SumOperations, bytes};
      return {decode_wire + decode_operand + kAdd + encode_wire, bytes};
    case Op::reduce:
    case Op::reduce_shards: {
      const double terms = program.grid().span(instruction.origin.gathered);
      return {terms * (decode_wire + kAdd), {.sums = kFp32Bytes, .wire = terms * wire_bytes}};
    }
    case Op::decode: return {decode_wire, {.sums = kFp32Bytes, .wire = wire_bytes}};
    case Op::dequantize: {
      const double shards = program.grid().span(instruction.origin.gathered);
      return {shards * (decode_wire + numerics::encode_operations(program.tensor_format)),
              {.array = shards * result_bytes, .wire = shards * wire_bytes}};
    }
    case Op::store:
      bytes.array += result_bytes;
      return {decode_operand + numerics::encode_operations(program.tensor_format), bytes};
    case Op::add_residual:
      bytes.sums += kFp32Bytes;  // reads and writes the sums
      bytes.array += result_bytes;
      return {numerics::decode_operations(program.tensor_format) + kAdd +
                  (instruction.finds_scales ? kAmax : 0.0),
              bytes};
    case Op::add_residual_after:
      return {2.0 * numerics::decode_operations(program.tensor_format) + kAdd +
                  numerics::encode_operations(program.tensor_format),
              {.array = 3.0 * result_bytes}};
    case Op::find_amax: {
      const ElementFormat from = program.cast_from.value();
      return {numerics::decode_operations(from) + kAmax, {.array = element_bytes(from)}};
    }
    case Op::cast:
      return cast(program, program.cast_from.value(), program.tensor_format,
                  program.rotated ? kRotate : 0.0);
    case Op::cast_back:
      return cast(program, program.tensor_format, program.cast_from.value(),
                  program.rotated ? kRotate + kScale : 0.0);
    default: throw std::logic_error("not vector work on elements");
  }
}

/// Work for all scales of a minishard: from amax in FP32 to scales on the wire. Decoders read them
/// once and then have them in VMEM; that is negligible and not counted.
ElementWork scales_work(const Program& program, const Instruction& instruction, Rank rank) {
  const BlockFormat& wire = program.format(instruction.phase);
  const std::uint64_t scales =
      numerics::scale_count(wire, program.minishard(program.written(instruction, rank)).size());
  const double operations = kMakeScale + (wire.tensor_scale ? kAmax + kScale : 0.0);
  const auto count = static_cast<double>(scales);
  return {count * operations,
          {.sums = count * kFp32Bytes,
           .wire = static_cast<double>(numerics::scales_bytes(wire, scales))}};
}

/// Work on one number in VMEM, except for the location that it is sent from.
ElementWork amax_work() { return {kAmax, {.sums = kFp32Bytes, .wire = kFp32Bytes}}; }

}  // namespace

Work work_of(const Program& program, const Instruction& instruction, WireBuffers buffers,
             Rank rank) {
  if (!is_vector_work(instruction.op)) throw std::logic_error("not vector work");
  if (instruction.op == Op::encode_scales)
    return times(1.0, scales_work(program, instruction, rank), buffers);
  if (instruction.op == Op::encode_amax || instruction.op == Op::merge_amax)
    return times(1.0, amax_work(), buffers);
  const std::uint64_t elements = program.counts
                                     ? program.microshard(program.written(instruction, rank)).size()
                                     : program.partition.microshard(instruction.tile).size();
  return times(static_cast<double>(elements), per_element(program, instruction), buffers);
}

}  // namespace equarx::collectives
