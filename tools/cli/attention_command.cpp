#include "tools/cli/attention_command.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/input/json.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/inspect/attention.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/stored_command.hpp"

namespace equarx::cli {
namespace {

/// Arguments of `attention`.
struct AttentionArguments {
  std::string keys;  ///< empty: drawn
  std::string values;
  std::string queries;
  std::string format = "int8-row";
  std::string values_format;  ///< empty: that of keys
  std::optional<std::uint64_t> head_size;
  double spread = inspect::AttentionFiles{}.spread;
  bool causal = false;
  bool json = false;
};

std::optional<tensors::TensorFile> file_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return open_tensor(path, "", "a file of its own");
}

void attend(const AttentionArguments& arguments) {
  const stored::StoredFormat keys = config::load_stored_format(arguments.format, "--format");
  const attention::CacheFormats formats{
      .keys = keys,
      .values = arguments.values_format.empty()
                    ? keys
                    : config::load_stored_format(arguments.values_format, "--values-format")};
  const inspect::AttentionFiles files{.keys = file_of(arguments.keys),
                                      .values = file_of(arguments.values),
                                      .queries = file_of(arguments.queries),
                                      .head_size = arguments.head_size,
                                      .causal = arguments.causal,
                                      .spread = arguments.spread};
  const inspect::AttentionReport report =
      naming_options("", [&] { return inspect::attend(files, formats); });
  print(arguments.json ? to_json(report).dump(2) + "\n" : to_table(report));
}

}  // namespace

void add_attention(CLI::App& app) {
  const auto arguments = std::make_shared<AttentionArguments>();
  CLI::App* command = app.add_subcommand(
      "attention", "Store a KV cache in a format and report the error of attention");
  command->footer(kAttentionFooter);
  const auto add_file = [&](const char* name, std::string& file, const char* meaning) {
    return command->add_option(name, file, meaning)->type_name(kPath)->transform(or_installed());
  };
  add_file("--keys", arguments->keys, "Keys: .npy or .safetensors file; none: drawn");
  add_file("--values", arguments->values, "Values, of the shape of the keys");
  add_file("--queries", arguments->queries, "Queries of a multiple of the heads; none: drawn");
  const auto add_format = [&](const char* name, std::string& format, const char* meaning) {
    return command->add_option(name, format, meaning)->transform(or_installed())->type_name("NAME");
  };
  add_format("--format", arguments->format, "Format of keys and values (docs/stored_formats.md)")
      ->capture_default_str();
  add_format("--values-format", arguments->values_format, "Format of values");
  command
      ->add_option("--head-size", arguments->head_size,
                   "Elements of a head, for tensors of [tokens, heads x head size]")
      ->check(CLI::Range(1, 1 << 16))
      ->type_name("COUNT");
  command
      ->add_option("--spread", arguments->spread,
                   "Standard deviation of the logits of drawn queries")
      ->capture_default_str()
      ->type_name("NUMBER");
  command->add_flag("--causal", arguments->causal,
                    "Queries are the last tokens, and attend to earlier ones");
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->callback([arguments] { attend(*arguments); });
}

}  // namespace equarx::cli
