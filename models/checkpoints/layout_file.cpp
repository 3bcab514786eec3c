#include "models/checkpoints/layout_file.hpp"

#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/checkpoints/compressed_tensors.hpp"
#include "models/checkpoints/fp4.hpp"
#include "models/checkpoints/gptq.hpp"
#include "models/tensors/file_error.hpp"

namespace equarx::checkpoints {
namespace {

namespace fs = std::filesystem;
using stored::ElementKind;
using tensors::FileError;

constexpr std::string_view kWeight = "weight";

std::vector<Part> parts_of(Layout layout, const Weight& weight) {
  switch (layout) {
    case Layout::gptq: return gptq_parts(weight, GptqZeros::less_one);
    case Layout::gptq_v2: return gptq_parts(weight, GptqZeros::plain);
    case Layout::awq: return awq_parts(weight);
    case Layout::pack_quantized: return pack_quantized_parts(weight);
    case Layout::int_quantized:
    case Layout::float_quantized: return naive_quantized_parts(weight);
    case Layout::mxfp4_pack_quantized: return mxfp4_parts(weight);
    case Layout::nvfp4_pack_quantized:
    case Layout::modelopt_nvfp4: break;
  }
  return nvfp4_parts(weight);
}

Weight read_parts(Layout layout, const PartReader& parts) {
  switch (layout) {
    case Layout::gptq: return read_gptq(parts, GptqZeros::less_one);
    case Layout::gptq_v2: return read_gptq(parts, GptqZeros::plain);
    case Layout::awq: return read_awq(parts);
    case Layout::pack_quantized: return read_pack_quantized(parts);
    case Layout::int_quantized: return read_naive_quantized(parts, ElementKind::integer);
    case Layout::float_quantized: return read_naive_quantized(parts, ElementKind::minifloat);
    case Layout::mxfp4_pack_quantized: return read_mxfp4(parts);
    case Layout::nvfp4_pack_quantized: return read_nvfp4_pack_quantized(parts);
    case Layout::modelopt_nvfp4: break;
  }
  return read_nvfp4(parts);
}

/// Layout by names and types of the tensors.
std::optional<Layout> recognised(const PartReader& parts) {
  if (parts.has("qweight")) return parts.has("g_idx") ? Layout::gptq : Layout::awq;
  if (parts.has("weight_global_scale")) return Layout::nvfp4_pack_quantized;
  if (parts.type("weight_packed") == "I32") return Layout::pack_quantized;
  if (parts.type("weight_packed") == "U8") return Layout::mxfp4_pack_quantized;
  if (parts.has("weight_scale_2")) return Layout::modelopt_nvfp4;
  if (!parts.has("weight_scale")) return std::nullopt;
  if (parts.type("weight") == "I8") return Layout::int_quantized;
  if (parts.type("weight") == "F8_E4M3") return Layout::float_quantized;
  return std::nullopt;
}

/// Names of all quantized weights.
std::set<std::string> weights_of(const tensors::SafetensorsReader& file) {
  std::set<std::string> names;
  for (const tensors::SafetensorsEntry& tensor : file.tensors())
    for (const std::string_view part : {"qweight", "weight_packed", "weight_scale"}) {
      std::string_view name = tensor.name;
      if (!name.ends_with(part)) continue;
      name.remove_suffix(part.size());
      if (name.empty() || name.ends_with('.')) names.emplace(name.substr(0, name.rfind('.')));
    }
  return names;
}

std::string only_weight(const tensors::SafetensorsReader& file) {
  constexpr std::size_t kMostShown = 5;
  const std::set<std::string> names = weights_of(file);
  if (names.empty())
    throw FileError(file.path(),
                    "holds no quantized weight (qweight, weight_packed or "
                    "weight_scale); quantize it with --layout");
  if (names.size() == 1) return *names.begin();
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < kMostShown) shown.push_back(tensors::in_quotes(name));
  throw tensors::NoTensorNamed(
      file.path(), fmt::format("holds {} quantized weights ({}{}); name one of them", names.size(),
                               fmt::join(shown, ", "), names.size() > kMostShown ? ", ..." : ""));
}

Layout layout_of(const fs::path& file, const PartReader& parts, const std::string& weight) {
  if (const std::optional<Layout> found = recognised(parts)) return *found;
  throw FileError(file, fmt::format("has no quantized weight {} in a layout of: {}",
                                    tensors::in_quotes(weight), fmt::join(kLayoutNames, ", ")));
}

}  // namespace

void write_layout(const fs::path& file, Layout layout, std::string_view weight,
                  const stored::StoredFormat& format, const stored::Packed& packed) {
  check_layout(layout, format, packed.shape);
  write_parts(file, without_suffix(weight), parts_of(layout, weight_of(format, packed)));
}

LayoutTensor read_layout(const fs::path& file, std::optional<Layout> layout,
                         std::optional<std::string_view> weight) {
  if (file.extension() != ".safetensors")
    throw FileError(file, "is no checkpoint; its name must end in .safetensors");
  const tensors::SafetensorsReader reader(file);
  const std::string name = weight ? std::string(without_suffix(*weight)) : only_weight(reader);
  const PartReader parts(reader, name);
  const Layout chosen = layout ? *layout : layout_of(file, parts, name);
  const Weight read = read_parts(chosen, parts);
  if (!std::ranges::all_of(read.scales.data, [](float scale) { return std::isfinite(scale); }))
    throw FileError(file, fmt::format("has a scale of {} that is NaN or Inf; quantize it again",
                                      tensors::in_quotes(name)));
  return {name, chosen, stored_of(read)};
}

std::string_view without_suffix(std::string_view weight) {
  if (weight == kWeight) return "";
  if (weight.ends_with(kWeight) && weight.size() > kWeight.size() &&
      weight[weight.size() - kWeight.size() - 1] == '.')
    weight.remove_suffix(kWeight.size() + 1);
  return weight;
}

}  // namespace equarx::checkpoints
