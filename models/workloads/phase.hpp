// Inference phases of a transformer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// Prompts of `tokens` positions each, processed together; ends with the logits of the last token
/// of each.
struct Prefill {
  std::uint64_t tokens = 0;
  std::uint64_t batch = 1;  ///< prompts
};

/// One more token for each of `batch` sequences. It attends to `context` positions, including
/// itself.
struct Decode {
  std::uint64_t context = 0;
  std::uint64_t batch = 1;  ///< sequences
};

/// An inference phase.
using Phase = std::variant<Prefill, Decode>;

/// Size of a phase in terms of attention.
struct Extent {
  double queries = 0.0;  ///< positions computed per sequence
  double keys = 0.0;     ///< positions attended to per sequence
  double batch = 0.0;    ///< sequences

  /// Positions computed in all sequences: the rows of every activation.
  double rows() const { return queries * batch; }
};

/// Positions that a phase computes and attends to.
Extent extent(const Phase& phase);

/// @throws exceptions::UserError if a number is 0, or exceeds the context of the model. The place is
/// its configuration key: "tokens", "context" or "batch".
void check_phase(const Transformer& model, const Phase& phase);

/// Bytes per chip of one AllReduce: rows x d_model in bf16.
double allreduce_bytes(const Transformer& model, const Phase& phase);

}  // namespace equarx::workloads
