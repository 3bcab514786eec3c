#include "tools/cli/config_command.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "experiments/input/embedded.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/nearest.hpp"
#include "experiments/output/files.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

/// @throws InputError unless the word is one of those that may stand there
void check_word(const std::string& word, const std::vector<std::string>& known,
                const std::string& what) {
  if (std::ranges::find(known, word) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw input::InputError(
      "", fmt::format("there is no {} '{}'; {}", what, word, input::remedy(word, names)));
}

std::string starting_text(const std::string& question) {
  const auto files = input::embedded_new();
  const auto found = std::ranges::find(files, question, &input::EmbeddedFile::name);
  if (found == files.end()) throw std::logic_error("no file to start from for " + question);
  return std::string(found->text);
}

/// Its comments name the file, as a command would.
std::string naming(std::string text, std::string_view file) {
  constexpr std::string_view kName = "THIS_FILE";
  for (std::size_t at = text.find(kName); at != std::string::npos;
       at = text.find(kName, at + file.size()))
    text.replace(at, kName.size(), file);
  return text;
}

}  // namespace

std::vector<std::string> questions() {
  return {"collective", "prefill", "decode", "chip", "graph", "graph-file"};
}

void new_config(const ConfigNewArguments& arguments) {
  check_word(arguments.action, {"new"}, "'config'");
  check_word(arguments.question, questions(), "question");
  const std::string text = starting_text(arguments.question);
  if (arguments.output.empty()) return print(naming(text, "my_config.json"));
  std::error_code unknown;  // writing says what is wrong
  if (std::filesystem::exists(arguments.output, unknown))
    throw input::InputError(
        "", fmt::format("{} is there already; remove it, or name another file by --output",
                        arguments.output));
  output::write_file(arguments.output, naming(text, arguments.output));
  print(fmt::format("wrote {}\n", arguments.output));
}

}  // namespace equarx::cli
