#include "importers/hlo/opcodes.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace equarx::hlo {
namespace {

/// Opcodes from xla/hlo/ir/hlo_opcode.h.
const std::unordered_map<std::string_view, OpClass>& classes() {
  static const auto* const table = [] {
    auto* made = new std::unordered_map<std::string_view, OpClass>;  // intentionally leaked
    const auto add = [&](OpClass of, auto... opcodes) { (made->emplace(opcodes, of), ...); };
    add(OpClass::free, "parameter", "constant", "tuple", "get-tuple-element", "bitcast",
        "after-all", "add-dependency", "opt-barrier", "partition-id", "replica-id", "domain",
        "get-dimension-size", "set-dimension-size", "iota");
    add(OpClass::elementwise, "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2",
        "atanh", "cbrt", "ceil", "clamp", "clz", "compare", "complex", "convert", "cosine", "cosh",
        "count-leading-zeros", "divide", "erf", "exponential", "exponential-minus-one", "floor",
        "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum", "multiply",
        "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder",
        "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left",
        "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "sqrt",
        "stochastic-convert", "subtract", "tan", "tanh", "xor");
    add(OpClass::move, "bitcast-convert", "broadcast", "concatenate", "copy", "dynamic-reshape",
        "pad", "reshape", "reverse", "transpose");
    add(OpClass::slice, "slice", "dynamic-slice", "gather");
    add(OpClass::update, "dynamic-update-slice", "scatter");
    add(OpClass::product, "dot", "convolution", "ragged-dot", "scaled-dot");
    add(OpClass::reduction, "reduce", "map");
    add(OpClass::window, "reduce-window", "select-and-scatter");
    add(OpClass::sort, "sort", "topk");
    add(OpClass::nested, "fusion", "call", "async");
    add(OpClass::loop, "while");
    add(OpClass::conditional, "conditional");
    add(OpClass::collective, "all-reduce", "all-gather", "reduce-scatter", "all-to-all",
        "ragged-all-to-all", "collective-permute", "collective-broadcast");
    add(OpClass::custom, "custom-call");
    add(OpClass::other, "batch-norm-grad", "batch-norm-inference", "batch-norm-training",
        "cholesky", "fft", "infeed", "outfeed", "recv", "send", "rng", "rng-bit-generator",
        "rng-get-and-update-state", "triangular-solve");
    return made;
  }();
  return *table;
}

}  // namespace

OpClass class_of(std::string_view opcode) {
  const auto known = classes().find(opcode);
  return known == classes().end() ? OpClass::unknown : known->second;
}

bool is_annotation(std::string_view target) {
  constexpr std::array<std::string_view, 15> kTargets = {"Sharding",
                                                         "SPMDFullToShardShape",
                                                         "SPMDShardToFullShape",
                                                         "annotate_device_placement",
                                                         "LayoutConstraint",
                                                         "AllocateBuffer",
                                                         "CreateBuffer",
                                                         "Pin",
                                                         "Unpin",
                                                         "MoveToHost",
                                                         "MoveToDevice",
                                                         "PinToDevice",
                                                         "PinToDeviceSram",
                                                         "PinToVmem",
                                                         "AssumeGatherIndicesInBound"};
  return std::ranges::find(kTargets, target) != kTargets.end() || target.starts_with("xla.sdy.");
}

SplitOpcode split(std::string_view opcode) {
  constexpr std::array<std::pair<std::string_view, AsyncEnd>, 3> kEnds = {
      {{"-start", AsyncEnd::start}, {"-update", AsyncEnd::update}, {"-done", AsyncEnd::done}}};
  for (const auto& [suffix, end] : kEnds)
    if (opcode.ends_with(suffix)) return {opcode.substr(0, opcode.size() - suffix.size()), end};
  return {opcode, AsyncEnd::none};
}

}  // namespace equarx::hlo
