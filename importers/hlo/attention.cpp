#include "importers/hlo/attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "models/workloads/attention.hpp"

namespace equarx::hlo {
namespace {

using Lengths = std::vector<std::int64_t>;
using workloads::Kernel;

/// Sizes of an attention.
struct Sizes {
  double rows = 0.0;   ///< queries of all sequences and heads
  double keys = 0.0;   ///< keys that each of them meets, on average
  double width = 0.0;  ///< of a head
};

Product attention(const Instruction& instruction, const Shape& queries, const Sizes& sizes,
                  double products, bool is_backward) {
  Product product =
      product_made(instruction, queries, queries, products * sizes.rows * sizes.keys * sizes.width);
  product.kernel = is_backward ? Kernel::attention_backward : Kernel::attention;
  product.attention_rows = sizes.rows * products / workloads::kForwardProducts;
  return product;
}

double products_of(bool is_backward) {
  return is_backward ? workloads::kBackwardProducts : workloads::kForwardProducts;
}

std::optional<Product> of_cudnn(const Instruction& instruction, const Shape& queries,
                                bool is_backward) {
  const std::string_view config = instruction.attribute("backend_config");
  const auto scores = json_value(config, "intermediate_tensor_shape");
  const auto lengths = scores ? json_value(*scores, "dimensions") : std::nullopt;
  const Lengths sizes = lengths ? numbers_in(*lengths) : Lengths{};  // batch, heads, queries, keys
  constexpr std::size_t kAxes = 4;
  if (sizes.size() != kAxes || std::ranges::min(sizes) < 1) return std::nullopt;
  const double rows =
      static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
  const auto mask = json_value(config, "mask_type");
  const bool is_causal = mask && mask->find("CAUSAL") != std::string_view::npos;
  return attention(instruction, queries,
                   {.rows = rows,
                    .keys = static_cast<double>(sizes[3]) / (is_causal ? 2.0 : 1.0),
                    .width = queries.elements() / rows},
                   products_of(is_backward), is_backward);
}

// --- Transformer Engine

/// Value of "key = 32 : i64" or "\"key\": 32" in the configuration of a typed FFI call.
std::optional<std::int64_t> number_at(std::string_view config, std::string_view key) {
  for (std::size_t at = config.find(key); at != std::string_view::npos;
       at = config.find(key, at + 1)) {
    const auto is_part = [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); };
    std::size_t next = at + key.size();
    if ((at > 0 && is_part(config[at - 1])) || (next < config.size() && is_part(config[next])))
      continue;
    while (next < config.size() &&
           std::string_view("\" :=").find(config[next]) != std::string_view::npos)
      ++next;
    const bool is_negative = next < config.size() && config[next] == '-';
    const Lengths numbers =
        numbers_in(config.substr(next, config.find_first_of(",}", next) - next));
    if (numbers.empty()) return std::nullopt;
    return is_negative ? -numbers.front() : numbers.front();
  }
  return std::nullopt;
}

/// Keys that a query meets under the mask and window of the configuration. NVTE_Mask_Type
/// (transformer_engine/fused_attn.h): 0 none, 1 padding, 2 and more causal.
double masked_keys(std::string_view config, double keys) {
  constexpr std::int64_t kCausal = 2;
  const bool is_causal = number_at(config, "mask_type").value_or(0) >= kCausal;
  const std::int64_t window = number_at(config, "window_size_left").value_or(-1);
  const double seen = is_causal ? keys / 2.0 : keys;
  return window >= 0 ? std::min(seen, static_cast<double>(window) + 1.0) : seen;
}

std::optional<Product> of_transformer_engine(const Instruction& instruction,
                                             const Computation& computation, bool is_backward) {
  const Shape* queries = array_of(instruction, 0, computation);
  const Shape* keys = array_of(instruction, 1, computation);
  constexpr std::size_t kAxes = 4;  // batch, sequence, heads, head
  if (queries == nullptr || keys == nullptr || queries->lengths.size() < kAxes) return std::nullopt;
  const Lengths& of_queries = queries->lengths;
  const std::size_t rank = of_queries.size();
  // Packed: batch, sequence, 3, heads, head; the keys are empty then.
  const bool is_packed = rank > kAxes && of_queries[rank - 3] == 3 && keys->elements() < 2.0;
  const std::string_view config = instruction.attribute("backend_config");
  const auto width = static_cast<double>(of_queries.back());
  double length = static_cast<double>(of_queries[rank - (is_packed ? 4 : 3)]);
  if (!is_packed) {
    // Keys and values may be packed together: batch, sequence, 2, groups, head.
    const Lengths& of_keys = keys->lengths;
    if (of_keys.size() < kAxes) return std::nullopt;
    const bool has_values = of_keys.size() > kAxes && of_keys[of_keys.size() - 3] == 2;
    length = static_cast<double>(of_keys[of_keys.size() - (has_values ? 4 : 3)]);
  }
  const double rows = queries->elements() / width / (is_packed ? 3.0 : 1.0);
  Product product = attention(instruction, *queries,
                              {.rows = rows, .keys = masked_keys(config, length), .width = width},
                              products_of(is_backward), is_backward);
  if (!number_at(config, "mask_type")) product.assumption = "counted without a mask";
  return product;
}

// --- Pallas

/// Products of a kernel of splash or flash attention, by its name; 0 for other kernels.
double products_of_kernel(const Instruction& instruction, std::int64_t width) {
  const std::string_view name = instruction.name;
  const bool is_known = name.starts_with("splash_m") || name.starts_with("flash_attention") ||
                        name.starts_with("flash_mha");
  if (!is_known) return 0.0;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  constexpr double kKeysAndValues = 4.0;  // scores, and gradients of probabilities, values and keys
  constexpr double kQueries = 3.0;        // scores, and gradients of probabilities and queries
  if (has("dkv")) {
    // The fused kernel also returns the gradient of the queries.
    std::size_t gradients = 0;
    for (const Shape& part : instruction.shape.parts)
      if (part.lengths.size() > 2 && part.lengths.back() == width) ++gradients;
    return gradients > 2 ? workloads::kBackwardProducts : kKeysAndValues;
  }
  if (has("dq")) return kQueries;
  return has("bwd") ? workloads::kBackwardProducts : workloads::kForwardProducts;
}

std::optional<Product> of_pallas(const Instruction& instruction, const Computation& computation) {
  constexpr std::size_t kAxes = 3;  // heads, sequence, head
  // Masks and other prefetched scalars, which are integers, come first.
  std::vector<const Shape*> arrays;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Shape* shape = array_of(instruction, i, computation);
    const bool is_float =
        shape != nullptr && (shape->type.starts_with("f") || shape->type == "bf16");
    if (is_float && shape->lengths.size() >= kAxes) arrays.push_back(shape);
  }
  if (arrays.size() < kAxes) return std::nullopt;
  const Shape& queries = *arrays[0];
  const Shape& keys = *arrays[1];
  const std::int64_t width = queries.lengths.back();
  const double products = products_of_kernel(instruction, width);
  if (products <= 0.0 || width < 1 || keys.lengths.back() != width) return std::nullopt;
  Product product = attention(instruction, queries,
                              {.rows = queries.elements() / static_cast<double>(width),
                               .keys = static_cast<double>(keys.lengths[keys.lengths.size() - 2]),
                               .width = static_cast<double>(width)},
                              products, products > workloads::kForwardProducts);
  product.assumption = "counted without a mask";
  return product;
}

}  // namespace

std::optional<Product> attention_of(const Instruction& instruction,
                                    const Computation& computation) {
  constexpr std::string_view kCudnn = "__cudnn$fmha";
  constexpr std::string_view kForward = "te_fused_attn_forward_ffi";
  constexpr std::string_view kBackward = "te_fused_attn_backward_ffi";
  const std::string_view target = instruction.attribute("custom_call_target");
  if (target.starts_with(kCudnn)) {
    const Shape* queries = array_of(instruction, 0, computation);
    return queries == nullptr ? std::nullopt
                              : of_cudnn(instruction, *queries, target.ends_with("Backward"));
  }
  if (target == kForward || target == kBackward)
    return of_transformer_engine(instruction, computation, target == kBackward);
  return target == "tpu_custom_call" ? of_pallas(instruction, computation) : std::nullopt;
}

}  // namespace equarx::hlo
