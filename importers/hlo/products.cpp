#include "importers/hlo/products.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "importers/hlo/attention.hpp"

namespace equarx::hlo {
namespace {

using Lengths = std::vector<std::int64_t>;
using hardware::MatrixType;
using workloads::Kernel;

constexpr double kFlopsPerMultiplyAdd = 2.0;

/// Shape of the result; its first element if the instruction also returns its workspace.
const Shape* result_of(const Instruction& instruction) {
  const Shape& shape = instruction.shape;
  if (!shape.is_tuple) return &shape;
  return shape.parts.empty() || shape.parts.front().is_tuple ? nullptr : &shape.parts.front();
}

MatrixType type_of(const Shape& left, const Shape& right) {
  const auto all = [&](std::string_view prefix, std::uint32_t bits) {
    return left.type.starts_with(prefix) && right.type.starts_with(prefix) &&
           type_bits(left.type) <= bits && type_bits(right.type) <= bits;
  };
  constexpr std::uint32_t kByte = 8;
  if (all("s", kByte) || all("u", kByte)) return MatrixType::int8;
  return all("f", kByte) ? MatrixType::fp8 : MatrixType::bf16;
}

/// Passes for operand_precision={highest,highest}: the higher one counts. Only FP32 takes several.
double passes_of(const Instruction& instruction, const Shape& left) {
  constexpr double kHigh = 3.0;
  constexpr double kHighest = 6.0;
  if (left.type != "f32") return 1.0;
  const std::string_view precision = instruction.attribute("operand_precision");
  if (precision.find("highest") != std::string_view::npos) return kHighest;
  return precision.find("high") != std::string_view::npos ? kHigh : 1.0;
}

std::optional<double> contracted(const Shape& left, std::string_view dimensions) {
  double product = 1.0;
  for (const std::int64_t at : numbers_in(dimensions)) {
    if (static_cast<std::size_t>(at) >= left.lengths.size()) return std::nullopt;
    product *= static_cast<double>(left.lengths[static_cast<std::size_t>(at)]);
  }
  return product;
}

std::optional<Product> dot(const Instruction& instruction, const Computation& computation,
                           std::string_view contracting) {
  const Shape* left = array_of(instruction, 0, computation);
  const Shape* right = array_of(instruction, 1, computation);
  const Shape* result = result_of(instruction);
  if (left == nullptr || right == nullptr || result == nullptr) return std::nullopt;
  const std::optional<double> length = contracted(*left, contracting);
  if (!length) return std::nullopt;
  return product_made(instruction, *left, *right, result->elements() * *length);
}

// --- Convolutions

/// One spatial dimension of a window.
struct Window {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t pad_low = 0;
  std::int64_t base_dilation = 1;    ///< lhs_dilate
  std::int64_t window_dilation = 1;  ///< rhs_dilate
};

/// Returns the value of "key=" in "size=3x3 pad=1_1x1_1".
std::string_view part_of_window(std::string_view window, std::string_view key) {
  for (std::size_t at = window.find(key); at != std::string_view::npos;
       at = window.find(key, at + 1)) {
    const bool begins = at == 0 || window[at - 1] == ' ' || window[at - 1] == '{';
    const std::size_t end_of_key = at + key.size();
    if (begins && end_of_key < window.size() && window[end_of_key] == '=')
      return window.substr(end_of_key + 1, window.find_first_of(" }", end_of_key) - end_of_key - 1);
  }
  return {};
}

/// Parses "3x-1_2": the signed number before "_" of each dimension.
Lengths sizes_of(std::string_view text) {
  Lengths sizes;
  while (!text.empty()) {
    const std::size_t end = text.find('x');
    const std::string_view one = text.substr(0, end);
    const Lengths numbers = numbers_in(one.substr(0, one.find('_')));
    const std::int64_t size = numbers.empty() ? 1 : numbers.front();
    sizes.push_back(one.starts_with("-") ? -size : size);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return sizes;
}

std::vector<Window> windows_of(std::string_view text, std::size_t dimensions) {
  std::vector<Window> windows(dimensions);
  const auto fill = [&](std::string_view key, std::int64_t Window::*member) {
    const Lengths values = sizes_of(part_of_window(text, key));
    for (std::size_t i = 0; i < std::min(dimensions, values.size()); ++i)
      windows[i].*member = values[i];
  };
  fill("size", &Window::size);
  fill("stride", &Window::stride);
  fill("pad", &Window::pad_low);
  fill("lhs_dilate", &Window::base_dilation);
  fill("rhs_dilate", &Window::window_dilation);
  for (Window& window : windows) {
    window.stride = std::max<std::int64_t>(window.stride, 1);
    window.base_dilation = std::max<std::int64_t>(window.base_dilation, 1);
    window.window_dilation = std::max<std::int64_t>(window.window_dilation, 1);
  }
  return windows;
}

/// Number of (output position, window element) pairs that meet an element of the dilated base:
/// positions o with o * stride + k * window dilation - padding = i * base dilation, for `outputs`
/// positions and `inputs` elements.
double positions(const Window& window, std::int64_t inputs, std::int64_t outputs) {
  constexpr std::int64_t kMaxCounted = 1 << 20;
  const double all = static_cast<double>(window.size) * static_cast<double>(outputs);
  const auto is_small = [](std::int64_t value) {
    return value > -kMaxCounted && value < kMaxCounted;
  };
  if (!is_small(window.size) || !is_small(window.stride) || !is_small(window.pad_low) ||
      !is_small(window.base_dilation) || !is_small(window.window_dilation) || !is_small(inputs) ||
      !is_small(outputs) || inputs < 1)
    return all;
  // Matching positions repeat with this period.
  const std::int64_t period = window.base_dilation / std::gcd(window.stride, window.base_dilation);
  const std::int64_t last = (inputs - 1) * window.base_dilation;
  double count = 0.0;
  for (std::int64_t k = 0; k < window.size; ++k) {
    const std::int64_t shift = k * window.window_dilation - window.pad_low;
    const auto at = [&](std::int64_t position) { return position * window.stride + shift; };
    // First and last position within the base: 0 <= at(o) <= last.
    std::int64_t first = shift >= 0 ? 0 : (-shift + window.stride - 1) / window.stride;
    const std::int64_t end =
        last < shift ? -1 : std::min(outputs - 1, (last - shift) / window.stride);
    for (std::int64_t attempt = 0; attempt < period && at(first) % window.base_dilation != 0;
         ++attempt)
      ++first;
    if (first > end || at(first) % window.base_dilation != 0) continue;
    const std::int64_t matches = (end - first) / period + 1;
    count += static_cast<double>(matches);
  }
  return count;
}

/// dim_labels "b01f_01io->b01f": the role of each dimension of input, kernel and result.
struct Labels {
  std::string_view input, kernel, output;

  bool fit(const Shape& left, const Shape& right, const Shape& result) const {
    return input.size() == left.lengths.size() && kernel.size() == right.lengths.size() &&
           output.size() == result.lengths.size();
  }
};

Labels labels_of(std::string_view text) {
  const std::size_t mid = text.find('_');
  const std::size_t arrow = text.find("->");
  if (mid == std::string_view::npos || arrow == std::string_view::npos || arrow < mid) return {};
  return {text.substr(0, mid), text.substr(mid + 1, arrow - mid - 1), text.substr(arrow + 2)};
}

std::int64_t length_at(const Shape& shape, std::string_view labels, char label) {
  const std::size_t at = labels.find(label);
  return at == std::string_view::npos ? 1 : shape.lengths[at];
}

std::optional<Product> convolution(const Instruction& instruction, const Computation& computation) {
  const Shape* left = array_of(instruction, 0, computation);
  const Shape* right = array_of(instruction, 1, computation);
  const Shape* result = result_of(instruction);
  if (left == nullptr || right == nullptr || result == nullptr) return std::nullopt;
  const Labels labels = labels_of(instruction.attribute("dim_labels"));
  if (labels.input.size() < 2 || !labels.fit(*left, *right, *result)) return std::nullopt;
  const std::size_t spatial = labels.input.size() - 2;
  const std::vector<Window> windows = windows_of(instruction.attribute("window"), spatial);
  double multiplications = static_cast<double>(length_at(*result, labels.output, 'b')) *
                           static_cast<double>(length_at(*result, labels.output, 'f')) *
                           static_cast<double>(length_at(*right, labels.kernel, 'i'));
  for (std::size_t i = 0; i < spatial; ++i) {
    constexpr std::string_view kDigits = "0123456789";
    if (i >= kDigits.size()) return std::nullopt;
    const char label = kDigits[i];
    Window window = windows[i];
    window.size = length_at(*right, labels.kernel, label);
    multiplications *= positions(window, length_at(*left, labels.input, label),
                                 length_at(*result, labels.output, label));
  }
  Product product = product_made(instruction, *left, *right, multiplications);
  if (spatial > 0) product.kernel = Kernel::convolution;
  return product;
}

/// A convolution of cuDNN. Its arrays are two operands and the result, in this order: forward
/// (input, kernel, output), gradient of the input (output, kernel, input), of the kernel (input,
/// output, kernel). Each output element takes one product per kernel element of its feature.
std::optional<Product> cudnn_convolution(const Instruction& instruction,
                                         const Computation& computation, std::string_view pass) {
  const Shape* left = array_of(instruction, 0, computation);
  const Shape* right = array_of(instruction, 1, computation);
  const Shape* result = result_of(instruction);
  if (left == nullptr || right == nullptr || result == nullptr) return std::nullopt;
  const bool of_kernel = pass.starts_with("BackwardFilter");
  const Shape* kernel = of_kernel ? result : right;
  const Shape* output = of_kernel ? right : pass.starts_with("BackwardInput") ? left : result;
  const Labels labels = labels_of(instruction.attribute("dim_labels"));
  if (labels.kernel.size() != kernel->lengths.size()) return std::nullopt;
  const auto features = static_cast<double>(length_at(*kernel, labels.kernel, 'o'));
  if (features <= 0.0) return std::nullopt;
  Product product =
      product_made(instruction, *left, *right, output->elements() * kernel->elements() / features);
  product.kernel = Kernel::convolution;
  return product;
}

/// A grouped GEMM, which multiplies each row by the matrix of its group: [m,k] x [g,k,n] to [m,n];
/// or the gradient of the matrices, [m,k] x [m,n] to [g,k,n]. Either takes m * k * n products.
std::optional<Product> grouped_gemm(const Instruction& instruction,
                                    const Computation& computation) {
  constexpr std::size_t kMatrix = 2;
  constexpr std::size_t kMatrices = 3;
  const Shape* left = nullptr;
  const Shape* right = nullptr;
  for (std::size_t i = 0; i < instruction.operands.size() && right == nullptr; ++i) {
    const Shape* shape = array_of(instruction, i, computation);
    if (shape == nullptr || shape->lengths.size() < kMatrix) continue;
    (left == nullptr ? left : right) = shape;
  }
  const Shape* result = result_of(instruction);
  if (right == nullptr || result == nullptr || left->lengths.size() != kMatrix) return std::nullopt;
  const bool of_matrices = right->lengths.size() == kMatrices && result->lengths.size() == kMatrix;
  const bool of_gradient = right->lengths.size() == kMatrix && result->lengths.size() == kMatrices;
  if (!of_matrices && !of_gradient) return std::nullopt;
  return product_made(instruction, *left, *right,
                      left->elements() * static_cast<double>(result->lengths.back()));
}

/// True for grouped GEMMs of cuBLAS, Transformer Engine and Pallas (megablox: gmm, tgmm).
bool multiplies_groups(const Instruction& instruction, std::string_view target) {
  constexpr std::string_view kMosaic = "tpu_custom_call";
  const std::string_view name = instruction.name;
  return target.find("grouped") != std::string_view::npos ||
         target.find("ragged") != std::string_view::npos ||
         (target == kMosaic && (name.starts_with("gmm") || name.starts_with("tgmm")));
}

/// The gradient of a ragged-dot's matrices, [m,k] x [m,n] to [g,k,n], contracts the rows of one
/// group for each of its g results.
std::optional<Product> ragged_dot(const Instruction& instruction, const Computation& computation) {
  const std::string_view contracting = instruction.attribute("lhs_contracting_dims");
  std::optional<Product> product = dot(instruction, computation, contracting);
  const Lengths ragged = numbers_in(instruction.attribute("lhs_ragged_dims"));
  const Lengths contracted = numbers_in(contracting);
  const bool is_divided =
      !ragged.empty() && std::ranges::find(contracted, ragged.front()) != contracted.end();
  const Shape* result = result_of(instruction);
  if (product && is_divided && !result->lengths.empty())
    product->flops /= std::max<double>(1.0, static_cast<double>(result->lengths.front()));
  return product;
}

std::optional<Product> gemm(const Instruction& instruction, const Computation& computation) {
  const std::string_view config = instruction.attribute("backend_config");
  const auto dimensions = json_value(config, "lhs_contracting_dimensions");
  return dimensions ? dot(instruction, computation, *dimensions) : std::nullopt;
}

}  // namespace

const Shape* array_of(const Instruction& instruction, std::size_t operand,
                      const Computation& computation) {
  const Instruction* found = operand_of(instruction, operand, computation);
  return found == nullptr || found->shape.is_tuple ? nullptr : &found->shape;
}

Product product_made(const Instruction& instruction, const Shape& left, const Shape& right,
                     double multiplications) {
  constexpr double kPerComplex = 4.0;
  const double per_element = left.type.starts_with("c") ? kPerComplex : 1.0;
  return {.flops = kFlopsPerMultiplyAdd * per_element * multiplications,
          .passes = passes_of(instruction, left),
          .type = type_of(left, right)};
}

std::optional<Product> product_of(const Instruction& instruction, const Computation& computation) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "ragged-dot") return ragged_dot(instruction, computation);
  if (opcode == "dot" || opcode == "scaled-dot")
    return dot(instruction, computation, instruction.attribute("lhs_contracting_dims"));
  if (opcode == "convolution") return convolution(instruction, computation);
  if (opcode != "custom-call") return std::nullopt;
  const std::string_view target = instruction.attribute("custom_call_target");
  constexpr std::string_view kConvolution = "__cudnn$conv";
  if (target.starts_with(kConvolution))
    return cudnn_convolution(instruction, computation, target.substr(kConvolution.size()));
  if (std::optional<Product> attention = attention_of(instruction, computation)) return attention;
  if (target.starts_with("__cublas"))
    if (std::optional<Product> product = gemm(instruction, computation)) return product;
  return multiplies_groups(instruction, target) ? grouped_gemm(instruction, computation)
                                                : std::nullopt;
}

}  // namespace equarx::hlo
