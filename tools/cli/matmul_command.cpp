#include "tools/cli/matmul_command.hpp"

#include <array>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/input/json.hpp"
#include "base/output/files.hpp"
#include "experiments/config/scheme_json.hpp"
#include "experiments/inspect/product.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/stored_command.hpp"

namespace equarx::cli {
namespace {

/// Arguments of `matmul`.
struct MatmulArguments {
  std::string x;
  std::string w;
  std::string x_tensor;  ///< name within a .safetensors file; empty: the only one
  std::string w_tensor;
  std::string scheme = "bf16";
  std::string importance;  ///< empty: none
  std::string output;      ///< empty: none
  bool json = false;
};

void multiply(const MatmulArguments& arguments) {
  output::check_not_input(arguments.output,
                          std::array{arguments.x, arguments.w, arguments.importance});
  const gemm::Scheme scheme = config::load_scheme(arguments.scheme, "--scheme");
  const tensors::TensorFile x = open_tensor(arguments.x, arguments.x_tensor, "--x-tensor");
  const tensors::TensorFile w = open_tensor(arguments.w, arguments.w_tensor, "--w-tensor");
  inspect::ProductFiles files{.x = x, .w = w};
  if (!arguments.importance.empty())
    files.importance = tensors::TensorFile::open(arguments.importance);
  if (!arguments.output.empty()) files.output = arguments.output;
  const inspect::ProductReport report =
      naming_options("", [&] { return inspect::multiply(files, scheme); });
  print(arguments.json ? to_json(report).dump(2) + "\n" : to_table(report));
}

}  // namespace

void add_matmul(CLI::App& app) {
  const auto arguments = std::make_shared<MatmulArguments>();
  CLI::App* command = app.add_subcommand(
      "matmul", "Multiply activations and weights in a quantization scheme and report the error");
  command->footer(kMatmulFooter);
  command->add_option("X", arguments->x, "Activations, a row per token: .npy or .safetensors file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command->add_option("W", arguments->w, "Weights, a row per output: .npy or .safetensors file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command->add_option("--x-tensor", arguments->x_tensor, "Name of X in a .safetensors file")
      ->type_name("NAME");
  command->add_option("--w-tensor", arguments->w_tensor, "Name of W in a .safetensors file")
      ->type_name("NAME");
  command
      ->add_option("--scheme", arguments->scheme,
                   "Scheme: zeroquant, fp8, weight-only-int4, ..., or a file (docs/gemm.md)")
      ->transform(or_installed())
      ->capture_default_str()
      ->type_name("NAME");
  command
      ->add_option("--importance", arguments->importance,
                   "File with the importance of each weight, for formats that need it")
      ->type_name(kPath);
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the product to this file (.npy, float32)")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->callback([arguments] { multiply(*arguments); });
}

}  // namespace equarx::cli
