#include "tools/cli/pages/bash_completion.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/pages/completions.hpp"

namespace equarx::cli {
namespace {

using Words = std::vector<std::string>;

/// Shell code that completes a value.
std::string action(const Choices& choices) {
  Words parts;
  if (choices.files) parts.emplace_back("files=yes");
  if (choices.folders) parts.emplace_back("folders=yes");
  if (choices.keys) parts.emplace_back("words=$keys open=yes");
  if (!choices.words.empty())
    parts.push_back(fmt::format("words='{}'", fmt::join(choices.words, " ")));
  if (choices.list) parts.emplace_back("list=yes");
  return parts.empty() ? ":" : fmt::format("{}", fmt::join(parts, " "));
}

/// Case branch for a subcommand, or for the top level.
std::string part_of(const CompletedCommand& command, const Words& subcommands) {
  std::string text;
  Words all;
  for (const CompletedOption& option : command.options) {
    all.insert(all.end(), option.names.begin(), option.names.end());
    if (option.takes_value)
      text +=
          fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"), action(option.values));
  }
  all.insert(all.end(), subcommands.begin(), subcommands.end());
  std::string argument = command.arguments.empty() ? ":" : action(command.arguments.back().values);
  if (!subcommands.empty()) argument = fmt::format("words='{}'", fmt::join(all, " "));
  return fmt::format(
      "      case $before in\n{}"
      "        *) if [[ $current == -* ]]; then words='{}'; else {}; fi ;;\n"
      "      esac ;;\n",
      text, fmt::join(all, " "), argument);
}

std::string parts(const Completions& completions) {
  Words names;
  for (const CompletedCommand& command : completions.commands) names.push_back(command.name);
  std::string text = fmt::format("    '')\n{}", part_of(completions.top, names));
  for (const CompletedCommand& command : completions.commands)
    text += fmt::format("    {})\n{}", command.name, part_of(command, {}));
  return text;
}

/// Case branches for the values of "POINTER=".
std::string key_values(const Completions& completions) {
  std::string text;
  for (const auto& [pointer, values] : completions.keys)
    if (!values.empty())
      text += fmt::format("    {}) words='{}'; return ;;\n", pointer, fmt::join(values, " "));
  return text;
}

// Bash treats '=' as a separate word. ${{...}} is fmt's escape of ${...}.
constexpr const char* kScript = R"(# bash completion for equarx-sim, generated from its command line

# Sets words, files, folders, open and list to the choices at the cursor.
_equarx_sim_choose() {{
  local i command='' keys='{keys}'
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}}; break; }}
  done
  case $before in
{values}  esac
  case $command in
{parts}  esac
}}

_equarx_sim() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local words='' files='' folders='' open='' list='' before_last=''
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  COMPREPLY=()
  _equarx_sim_choose
  if [[ $list && $current == *,* ]]; then before_last=${{current%,*}},; fi
  local -a found
  if [[ $words ]]; then mapfile -t found < <(compgen -P "$before_last" -W "$words" -- "${{current#"$before_last"}}"); COMPREPLY+=("${{found[@]}}"); fi
  if [[ $files ]]; then mapfile -t found < <(compgen -f -- "$current"); COMPREPLY+=("${{found[@]}}"); fi
  if [[ $folders ]]; then mapfile -t found < <(compgen -d -- "$current"); COMPREPLY+=("${{found[@]}}"); fi
  # Fails outside of a completion, as in tests.
  if [[ $files || $folders ]]; then compopt -o filenames 2> /dev/null; fi
  if [[ $open || $list ]]; then compopt -o nospace 2> /dev/null; fi
  return 0
}}

complete -F _equarx_sim equarx-sim
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const Completions completions = completions_of(app);
  return fmt::format(kScript, fmt::arg("keys", key_names(completions)),
                     fmt::arg("values", key_values(completions)),
                     fmt::arg("parts", parts(completions)));
}

}  // namespace equarx::cli
