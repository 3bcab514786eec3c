#include "tools/cli/pages/fish_completion.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/pages/completions.hpp"

namespace equarx::cli {
namespace {

/// Escapes text for single quotes.
std::string fish_escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

/// Options of `complete` for the choices.
std::string values_of(const Choices& choices) {
  const std::string words = fmt::format("{}", fmt::join(choices.words, " "));
  if (choices.keys) return " -x -a '(__equarx_sim_keys)'";
  if (choices.list)
    return fmt::format(" -x -a '(__fish_complete_list , \"printf %s\\\\\\\\n {}\")'", words);
  if (choices.folders) return " -x -a '(__fish_complete_directories)'";
  if (choices.files) return words.empty() ? " -r -F" : fmt::format(" -r -F -a '{}'", words);
  return words.empty() ? " -x" : fmt::format(" -x -a '{}'", words);
}

std::string option_line(const CompletedOption& option, const std::string& where) {
  std::string names;
  for (const std::string& name : option.names)
    names += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                    : fmt::format(" -s {}", name.substr(1));
  return fmt::format("complete -c equarx-sim -n '{}'{}{} -d '{}'\n", where, names,
                     option.takes_value ? values_of(option.values) : "",
                     fish_escaped(option.description));
}

std::string fish_part_of(const CompletedCommand& command) {
  const std::string where = "__fish_seen_subcommand_from " + command.name;
  std::string text;
  for (const CompletedOption& option : command.options) text += option_line(option, where);
  if (command.arguments.empty()) return text;
  const Choices& values = command.arguments.back().values;
  if (values.folders)
    text +=
        fmt::format("complete -c equarx-sim -n '{}' -a '(__fish_complete_directories)'\n", where);
  if (values.files) text += fmt::format("complete -c equarx-sim -n '{}' -F\n", where);
  if (!values.words.empty())
    text += fmt::format("complete -c equarx-sim -n '{}' -a '{}'\n", where,
                        fmt::join(values.words, " "));
  return text;
}

/// Every key with '=', and with each of its enumerated values.
std::string keys_of(const Completions& completions) {
  std::string text;
  for (const auto& [pointer, values] : completions.keys) {
    text += fmt::format("    echo '{}='\n", pointer);
    for (const std::string& value : values)
      text += fmt::format("    echo '{}={}'\n", pointer, value);
  }
  return text;
}

}  // namespace

std::string fish_completion(const CLI::App& app) {
  const Completions completions = completions_of(app);
  std::string text = fmt::format(
      "# fish completion for equarx-sim, generated from its command line\n\n"
      "# Configuration key, '=' and value.\n"
      "function __equarx_sim_keys\n{}end\n\n"
      "complete -c equarx-sim -f\n",
      keys_of(completions));
  const std::string first = "__fish_use_subcommand";
  for (const CompletedOption& option : completions.top.options) text += option_line(option, first);
  for (const CompletedCommand& command : completions.commands)
    text += fmt::format("complete -c equarx-sim -n '{}' -a {} -d '{}'\n", first, command.name,
                        fish_escaped(command.description));
  for (const CompletedCommand& command : completions.commands) text += fish_part_of(command);
  return text;
}

}  // namespace equarx::cli
