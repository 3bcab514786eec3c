// What kind of work each opcode of HLO is.
#pragma once

#include <cstdint>
#include <string_view>

namespace equarx::hlo {

/// What an instruction costs depends on.
enum class OpClass : std::uint8_t {
  free,         ///< takes nothing: parameters, tuples, bitcasts
  elementwise,  ///< one operation of the vector unit for each element of the result
  move,         ///< reads its operands and writes its result, and computes nothing
  slice,        ///< reads only what it writes: slices, gathers
  update,       ///< writes a part of its operand in place: dynamic-update-slice, scatter
  product,      ///< dot, convolution
  reduction,    ///< applies a computation to each element of its operands: reduce, map
  window,       ///< applies one to each element of a window: reduce-window, select-and-scatter
  sort,
  nested,  ///< does what a computation that it calls does: fusion, call, async-start
  loop,    ///< while
  conditional,
  collective,
  custom,   ///< custom-call
  other,    ///< known, and taken for a move: rng, fft, infeed
  unknown,  ///< not one of HLO's
};

/// Of an opcode without "-start", "-update" or "-done".
OpClass class_of(std::string_view opcode);

/// Which end of an asynchronous pair an opcode is.
enum class AsyncEnd : std::uint8_t { none, start, update, done };

/// "all-reduce-start" is {"all-reduce", start}.
struct SplitOpcode {
  std::string_view base;
  AsyncEnd end = AsyncEnd::none;
};

SplitOpcode split(std::string_view opcode);

}  // namespace equarx::hlo
