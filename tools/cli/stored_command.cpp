#include "tools/cli/stored_command.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/output/files.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/inspect/dequantize.hpp"
#include "experiments/inspect/stored.hpp"
#include "models/tensors/file_error.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

using input::InputError;

std::optional<checkpoints::Layout> layout_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const std::optional<checkpoints::Layout> layout = checkpoints::layout_named(name);
  if (!layout)
    throw InputError("--layout", fmt::format("'{}' is no layout of stored tensors; use {}", name,
                                             fmt::join(checkpoints::kLayoutNames, ", ")));
  return layout;
}

/// Rejects options of block formats.
void check_stored_options(const QuantizeArguments& arguments) {
  const char* option = first_given({{!arguments.scale.empty(), "--scale"},
                                    {!arguments.scale_rounding.empty(), "--scale-rounding"},
                                    {!arguments.block.empty(), "--block"},
                                    {!arguments.elements_per_scale.empty(), "--elements-per-scale"},
                                    {!arguments.rounding.empty(), "--rounding"}});
  if (option != nullptr)
    throw InputError(
        option, fmt::format("is for formats of messages; remove it and edit {}", arguments.format));
}

std::optional<inspect::StoredOutput> output_of(const QuantizeArguments& arguments) {
  const std::optional<checkpoints::Layout> layout = layout_of(arguments.layout);
  const std::filesystem::path file = arguments.output;
  if (layout && file.extension() != ".safetensors")
    throw InputError("--layout", "needs a file to write; give -o FILE.safetensors");
  if (file.empty()) return std::nullopt;
  if (!layout && file.extension() == ".safetensors")
    throw InputError("--output", fmt::format("needs --layout, one of {}",
                                             fmt::join(checkpoints::kLayoutNames, ", ")));
  return inspect::StoredOutput{file, layout, arguments.tensor};
}

}  // namespace

tensors::TensorFile open_tensor(const std::string& file, const std::string& tensor,
                                const std::string& option) {
  try {
    std::optional<std::string_view> name;
    if (!tensor.empty()) name = tensor;
    return tensors::TensorFile::open(file, name);
  } catch (const tensors::NoTensorNamed& error) {
    throw InputError("", fmt::format("{} by {}", error.what(), option));
  }
}

void quantize_stored(const QuantizeArguments& arguments) {
  check_stored_options(arguments);
  const std::optional<inspect::StoredOutput> output = output_of(arguments);
  const stored::StoredFormat format = config::load_stored_format(arguments.format, "--format");
  inspect::StoredFiles files;
  if (!arguments.importance.empty())
    files.importance = tensors::TensorFile::open(arguments.importance);
  if (!arguments.inputs.empty()) files.inputs = tensors::TensorFile::open(arguments.inputs);
  if (!arguments.hessian.empty()) files.hessian = tensors::TensorFile::open(arguments.hessian);
  const tensors::TensorFile file = open_tensor(arguments.file, arguments.tensor);
  print(to_table(naming_options("", [&] {
    ProgressLine line;
    line.show(fmt::format("quantizing {} elements", file.elements()));
    return inspect::quantize_stored(file, format, files, output,
                                    [&](double done) { line.share(done); });
  })));
}

void dequantize(const DequantizeArguments& arguments) {
  output::check_not_input(arguments.output, std::array{arguments.file, arguments.original});
  if (arguments.original.empty() && !arguments.original_tensor.empty())
    throw InputError("--original-tensor", "needs --original");
  std::optional<tensors::TensorFile> original;
  if (!arguments.original.empty())
    original = open_tensor(arguments.original, arguments.original_tensor);
  std::optional<std::string_view> weight;
  if (!arguments.tensor.empty()) weight = arguments.tensor;
  std::optional<std::filesystem::path> output;
  if (!arguments.output.empty()) output = arguments.output;
  try {
    print(to_table(naming_options("", [&] {
      return inspect::dequantize(arguments.file, layout_of(arguments.layout), weight, original,
                                 output);
    })));
  } catch (const tensors::NoTensorNamed& error) {
    throw InputError("", fmt::format("{} by --tensor", error.what()));
  }
}

}  // namespace equarx::cli
