// Classification of HLO opcodes.
#pragma once

#include <cstdint>
#include <string_view>

namespace equarx::hlo {

/// Determines the cost of an instruction.
enum class OpClass : std::uint8_t {
  free,         ///< no cost: parameters, tuples, bitcasts
  elementwise,  ///< one vector operation per element of the result
  move,         ///< reads its operands and writes its result, without arithmetic
  slice,        ///< reads as many elements as it writes: slices, gathers
  update,       ///< updates part of its operand in place: dynamic-update-slice, scatter
  product,      ///< dot, convolution
  reduction,    ///< applies a computation to each element of its operands: reduce, map
  window,  ///< applies a computation to each element of a window: reduce-window, select-and-scatter
  sort,
  nested,  ///< runs the computation that it calls: fusion, call, async-start
  loop,    ///< while
  conditional,
  collective,
  custom,   ///< custom-call
  other,    ///< known, treated as a move: rng, fft, infeed
  unknown,  ///< not an HLO opcode
};

/// Class of an opcode without its "-start", "-update" or "-done" suffix.
OpClass class_of(std::string_view opcode);

/// True for the target of a custom-call that only annotates or reserves memory: "Sharding",
/// "annotate_device_placement".
bool is_annotation(std::string_view target);

/// Role of an opcode in an asynchronous pair.
enum class AsyncEnd : std::uint8_t { none, start, update, done };

/// "all-reduce-start" is {"all-reduce", start}.
struct SplitOpcode {
  std::string_view base;
  AsyncEnd end = AsyncEnd::none;
};

SplitOpcode split(std::string_view opcode);

}  // namespace equarx::hlo
