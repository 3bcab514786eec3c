// What a transformer is asked to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// Prompts of `tokens` positions each, all at once; ends with the logits of each prompt's last token.
struct Prefill {
  std::uint64_t tokens = 0;
  std::uint64_t batch = 1;  ///< prompts
};

/// One more token for each of `batch` sequences. It attends to `context` positions, itself included.
struct Decode {
  std::uint64_t context = 0;
  std::uint64_t batch = 1;  ///< sequences
};

/// What a transformer does.
using Phase = std::variant<Prefill, Decode>;

/// A phase in the terms of attention.
struct Extent {
  double queries = 0.0;  ///< positions of each sequence that are computed
  double keys = 0.0;     ///< positions of each sequence that are attended to
  double batch = 0.0;    ///< sequences

  /// Positions that are computed, in all sequences: the rows of every activation.
  double rows() const { return queries * batch; }
};

/// How many positions a phase computes, and attends to.
Extent extent(const Phase& phase);

/// A phase that the model cannot do.
class PhaseError : public std::invalid_argument {
 public:
  /// Which number of the phase is wrong.
  enum class Field : std::uint8_t { tokens, context, batch };

  PhaseError(Field field, const std::string& message)
      : std::invalid_argument(message), field_(field) {}

  Field field() const { return field_; }

 private:
  Field field_;
};

/// "tokens": the key of a configuration, and the word in messages.
std::string_view name(PhaseError::Field field);

/// @throws PhaseError if nothing is to be done, or more positions than the model takes.
void check_phase(const Transformer& model, const Phase& phase);

/// Bytes of one AllReduce on each chip: rows x d_model of bf16.
double allreduce_bytes(const Transformer& model, const Phase& phase);

}  // namespace equarx::workloads
