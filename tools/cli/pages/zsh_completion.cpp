#include "tools/cli/pages/zsh_completion.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/pages/completions.hpp"

namespace equarx::cli {
namespace {

/// Escapes text for single quotes and backslash-escapes `special` characters of zsh descriptions.
std::string zsh_escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'')
      result += "'\\''";
    else if (special.find(letter) != std::string_view::npos)
      result += fmt::format("\\{}", letter);
    else
      result += letter;
  }
  return result;
}

/// Action of _arguments that completes a value.
std::string zsh_action(const Choices& choices) {
  if (choices.keys) return "_equarx_sim_key";
  if (choices.list) return fmt::format("_sequence compadd - {}", fmt::join(choices.words, " "));
  if (choices.files && !choices.words.empty())
    return fmt::format("{{ compadd -- {}; _files }}", fmt::join(choices.words, " "));
  if (!choices.words.empty()) return fmt::format("({})", fmt::join(choices.words, " "));
  if (choices.files) return "_files";
  return choices.folders ? "_files -/" : " ";
}

/// A line of _arguments per name. Options are offered once, except --set.
std::string option_lines(const CompletedOption& option) {
  std::string text;
  const std::string before =
      option.values.keys ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    text +=
        fmt::format("        '{}{}{}[{}]{}' \\\n", before, name,
                    !option.takes_value ? ""
                    : is_long           ? "="
                                        : "+",
                    zsh_escaped(option.description, "[]\\"),
                    option.takes_value ? fmt::format(":value:{}", zsh_action(option.values)) : "");
  }
  return text;
}

std::string arguments_of(const CompletedCommand& command) {
  std::string text = "      _arguments -s \\\n";
  for (const CompletedOption& option : command.options) text += option_lines(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const CompletedArgument& argument = command.arguments[i];
    text +=
        fmt::format("        '{}:{}:{}' \\\n", argument.repeated ? "*" : fmt::format("{}", i + 1),
                    argument.name, zsh_action(argument.values));
  }
  return text + "        && return 0\n";
}

std::string command_names(const Completions& completions) {
  std::string text;
  for (const CompletedCommand& command : completions.commands)
    text += fmt::format("        '{}:{}'\n", command.name, zsh_escaped(command.description, ":\\"));
  return text;
}

std::string zsh_parts(const Completions& completions) {
  std::string text;
  for (const CompletedCommand& command : completions.commands)
    text += fmt::format("    {})\n{}      ;;\n", command.name, arguments_of(command));
  return text;
}

std::string zsh_key_values(const Completions& completions) {
  std::string text;
  for (const auto& [pointer, values] : completions.keys)
    if (!values.empty())
      text += fmt::format("      {}) compadd -- {} ;;\n", pointer, fmt::join(values, " "));
  return text;
}

std::string top_options(const Completions& completions) {
  std::string text;
  for (const CompletedOption& option : completions.top.options) text += option_lines(option);
  return text;
}

// ${{...}} is fmt's escape of ${...}.
constexpr const char* kZshScript = R"(#compdef equarx-sim
# zsh completion for equarx-sim, generated from its command line

# Configuration key, '=' and value.
_equarx_sim_key() {{
  if compset -P '--set='; then :; fi
  if compset -P '*='; then
    case ${{${{IPREFIX%=}}##*--set=}} in
{values}    esac
  else
    compadd -S '' -- {keys}
  fi
}}

_equarx-sim() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \
{options}        '1:subcommand:->subcommand' \
        '*::argument:->argument' && return 0
  if [[ $state == subcommand ]]; then
    local -a commands
    commands=(
{commands}    )
    _describe subcommand commands
    return
  fi
  case $line[1] in
{parts}  esac
  return 1
}}

_equarx-sim "$@"
)";

}  // namespace

std::string zsh_completion(const CLI::App& app) {
  const Completions completions = completions_of(app);
  return fmt::format(
      kZshScript, fmt::arg("values", zsh_key_values(completions)),
      fmt::arg("keys", key_names(completions)), fmt::arg("options", top_options(completions)),
      fmt::arg("commands", command_names(completions)), fmt::arg("parts", zsh_parts(completions)));
}

}  // namespace equarx::cli
