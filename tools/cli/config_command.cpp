#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/nearest.hpp"
#include "base/output/files.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

/// @throws InputError unless `word` is one of `known`
void check_word(const std::string& word, const std::vector<std::string>& known,
                const std::string& kind) {
  if (std::ranges::find(known, word) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw input::InputError(
      "", fmt::format("unknown {} '{}'; {}", kind, word, input::remedy(word, names)));
}

std::string template_text(const std::string& name) {
  const auto files = input::embedded_new();
  const auto found = std::ranges::find(files, name, &input::EmbeddedFile::name);
  if (found == files.end()) throw std::logic_error("no template " + name);
  return std::string(found->text);
}

/// Replaces the placeholder for the file's own name in comments.
std::string naming(std::string text, std::string_view file) {
  constexpr std::string_view kName = "THIS_FILE";
  for (std::size_t at = text.find(kName); at != std::string::npos;
       at = text.find(kName, at + file.size()))
    text.replace(at, kName.size(), file);
  return text;
}

}  // namespace

std::vector<std::string> config_templates() {
  return {"collective", "prefill", "decode", "training", "serving",   "served-load",
          "step",       "hlo",     "chip",   "graph",    "graph-file"};
}

void new_config(const ConfigNewArguments& arguments) {
  check_word(arguments.action, {"new"}, "action");
  check_word(arguments.name, config_templates(), "template");
  const std::string text = template_text(arguments.name);
  if (arguments.output.empty()) return print(naming(text, "my_config.json"));
  std::error_code ignored;  // reported by write_file()
  if (std::filesystem::exists(arguments.output, ignored))
    throw input::InputError(
        "", fmt::format("{} already exists; remove it, or name another file with --output",
                        arguments.output));
  output::write_file(arguments.output, naming(text, arguments.output));
  print(fmt::format("wrote {}\n", arguments.output));
}

}  // namespace equarx::cli
