#include "models/workloads/tensor_parallel.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::workloads {
namespace {

/// Returns the part of the model that does not divide over `chips`; empty if all parts do.
std::string indivisible_part(const Transformer& model, std::uint32_t chips) {
  if (model.heads % chips != 0) return fmt::format("{} heads", model.heads);
  if (model.kv_heads % chips != 0 && chips % model.kv_heads != 0)
    return fmt::format("{} key and value heads", model.kv_heads);
  const bool has_dense = std::ranges::any_of(
      layer_kinds(model), [](const KindCount& count) { return !count.kind.experts; });
  if (has_dense && model.ffn % chips != 0) return fmt::format("an FFN of width {}", model.ffn);
  if (!model.experts) return {};
  if (model.experts->ffn % chips != 0)
    return fmt::format("experts of width {}", model.experts->ffn);
  if (model.experts->shared_ffn % chips != 0)
    return fmt::format("shared experts of width {}", model.experts->shared_ffn);
  return {};
}

std::vector<std::uint32_t> possible_chips(const Transformer& model) {
  std::vector<std::uint32_t> possible;
  for (std::uint32_t chips = 1; chips <= model.heads; ++chips)
    if (indivisible_part(model, chips).empty()) possible.push_back(chips);
  return possible;
}

}  // namespace

Shard shard(const Transformer& model, std::uint32_t chips) {
  const std::string problem = chips == 0 ? "a model" : indivisible_part(model, chips);
  if (!problem.empty())
    throw std::invalid_argument(
        fmt::format("{} of {} cannot be divided over {} chips; tensor parallelism takes {}",
                    problem, model.name, chips, fmt::join(possible_chips(model), ", ")));
  return {.chips = chips,
          .heads = model.heads / chips,
          .kv_heads = std::max(model.kv_heads / chips, 1U),
          .ffn = model.ffn / chips,
          .expert_ffn = model.experts ? model.experts->ffn / chips : 0,
          .shared_ffn = model.experts ? model.experts->shared_ffn / chips : 0,
          .vocabulary = (model.vocabulary + chips - 1) / chips};
}

double cached_elements(const Transformer& model, std::uint32_t chips) {
  constexpr double kKeyAndValue = 2.0;
  if (model.latent) return model.latent->cached();
  return kKeyAndValue * shard(model, chips).kv_heads * model.head_size;
}

}  // namespace equarx::workloads
