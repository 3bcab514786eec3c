#include "tools/cli/pages/bash_completion.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/input/embedded.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/pages/described_options.hpp"

namespace equarx::cli {
namespace {

using input::EmbeddedFile;
using input::Json;
using Words = std::vector<std::string>;

Words names_of(std::span<const EmbeddedFile> files) {
  Words names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  return names;
}

/// The keys of a configuration by their JSON pointers, each with the values that are listed for it.
class Keys {
 public:
  Keys()
      : schema_(input::parse_json(std::string(
            std::ranges::find(input::embedded_schemas(), "experiment.schema", &EmbeddedFile::name)
                ->text))) {
    add("", schema_);
    // Both take a name, of which the schema knows nothing.
    values_["/hardware"] = names_of(input::embedded_hardware());
    values_["/workload/model"] = names_of(input::embedded_models());
  }

  const std::map<std::string, Words>& values() const { return values_; }

  /// The values of the key of a collective; none if there is no such key.
  Words of_collective(const std::string& key) const {
    const auto found = values_.find("/collectives/0/" + key);
    return found == values_.end() ? Words{} : found->second;
  }

 private:
  void add(const std::string& pointer, const Json& described) {
    if (described.contains("$ref"))
      return add(pointer,
                 schema_.at(Json::json_pointer(described.at("$ref").get<std::string>().substr(1))));
    if (described.contains("properties")) {
      for (const auto& [key, value] : described.at("properties").items())
        add(fmt::format("{}/{}", pointer, key), value);
    } else if (described.contains("oneOf")) {
      for (const Json& form : described.at("oneOf")) add(pointer, form);
    } else if (described.contains("items") && described.at("items").contains("$ref")) {
      constexpr int kCompleted = 2;  // a baseline, and what is compared with it
      for (int i = 0; i < kCompleted; ++i)
        add(fmt::format("{}/{}", pointer, i), described.at("items"));
    } else {
      Words& values = values_[pointer];
      for (const Json& value : described.value("enum", Json::array()))
        if (value.is_string()) values.push_back(value.get<std::string>());
    }
  }

  Json schema_;
  std::map<std::string, Words> values_;
};

/// The line of shell that completes a value.
std::string action(const std::string& type, const Words& values) {
  if (!values.empty()) return fmt::format("words='{}'", fmt::join(values, " "));
  if (type == kFile || type == kPath) return "files=yes";
  if (type == kFolder) return "folders=yes";
  if (type == kChip)
    return fmt::format("files=yes words='{}'",
                       fmt::join(names_of(input::embedded_hardware()), " "));
  if (type == kOverride) return "words=$keys open=yes";
  return ":";
}

/// What completes after an option, or as an argument.
std::string action(const CLI::Option& option, const Keys& keys) {
  const Words names = option_names(option);
  constexpr std::size_t kDashes = 2;
  const Words values = names.empty() ? Words{} : keys.of_collective(names.front().substr(kDashes));
  return action(option.get_type_name(), values);
}

/// The part of the script that is for one subcommand, or for what comes before one.
std::string part_of(const CLI::App& app, const Keys& keys) {
  std::string text;
  Words all;
  std::string argument = ":";
  for (const CLI::Option* option : described_options(app)) {
    const Words names = option_names(*option);
    all.insert(all.end(), names.begin(), names.end());
    if (names.empty())
      argument = action(*option, keys);
    else if (takes_value(*option))
      text += fmt::format("        {}) {} ;;\n", fmt::join(names, "|"), action(*option, keys));
  }
  for (const CLI::App* command : described_subcommands(app)) all.push_back(command->get_name());
  return fmt::format(
      "      case $before in\n{}"
      "        *) if [[ $current == -* ]]; then words='{}'; else {}; fi ;;\n"
      "      esac ;;\n",
      text, fmt::join(all, " "),
      described_subcommands(app).empty() ? argument
                                         : fmt::format("words='{}'", fmt::join(all, " ")));
}

std::string parts(const CLI::App& app, const Keys& keys) {
  std::string text = fmt::format("    '')\n{}", part_of(app, keys));
  for (const CLI::App* command : described_subcommands(app)) {
    if (!described_subcommands(*command).empty())
      throw std::logic_error("completion has one level of subcommands");
    text += fmt::format("    {})\n{}", command->get_name(), part_of(*command, keys));
  }
  return text;
}

/// What follows "POINTER=".
std::string key_values(const Keys& keys) {
  std::string text;
  for (const auto& [pointer, values] : keys.values())
    if (!values.empty())
      text += fmt::format("    {}) words='{}'; return ;;\n", pointer, fmt::join(values, " "));
  return text;
}

std::string key_names(const Keys& keys) {
  Words names;
  for (const auto& [pointer, values] : keys.values()) names.push_back(pointer + "=");
  return fmt::format("{}", fmt::join(names, " "));
}

// Bash takes '=' for a word of its own. ${{...}} is fmt's ${...}.
constexpr const char* kScript = R"(# bash completion for equarx-sim, generated from its command line

# Sets words, files, folders and open to what may come at the cursor.
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
  local words='' files='' folders='' open=''
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  COMPREPLY=()
  _equarx_sim_choose
  local -a found
  if [[ $words ]]; then mapfile -t found < <(compgen -W "$words" -- "$current"); COMPREPLY+=("${{found[@]}}"); fi
  if [[ $files ]]; then mapfile -t found < <(compgen -f -- "$current"); COMPREPLY+=("${{found[@]}}"); fi
  if [[ $folders ]]; then mapfile -t found < <(compgen -d -- "$current"); COMPREPLY+=("${{found[@]}}"); fi
  # Only within a completion; not in a test that calls this.
  if [[ $files || $folders ]]; then compopt -o filenames 2> /dev/null; fi
  if [[ $open ]]; then compopt -o nospace 2> /dev/null; fi
  return 0
}}

complete -F _equarx_sim equarx-sim
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const Keys keys;
  return fmt::format(kScript, fmt::arg("keys", key_names(keys)),
                     fmt::arg("values", key_values(keys)), fmt::arg("parts", parts(app, keys)));
}

}  // namespace equarx::cli
