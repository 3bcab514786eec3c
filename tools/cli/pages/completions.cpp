#include "tools/cli/pages/completions.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "experiments/vectors/cases.hpp"
#include "models/checkpoints/layout.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
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

Words case_names() {
  Words names;
  for (const vectors::CaseInfo& one : vectors::all_cases()) names.emplace_back(one.name);
  return names;
}

/// Configuration keys and their enumerated values, from the schema.
class Keys {
 public:
  Keys()
      : schema_(input::parse_json(std::string(
            std::ranges::find(input::embedded_schemas(), "experiment.schema", &EmbeddedFile::name)
                ->text))) {
    add("", schema_);
    // Names that the schema does not enumerate.
    values_["/hardware"] = names_of(input::embedded_hardware());
    values_["/workload/model"] = names_of(input::embedded_models());
  }

  const std::map<std::string, Words>& values() const { return values_; }

  /// Values of a collective's key; empty if unknown.
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
        add(input::pointer(pointer, key), value);
    } else if (described.contains("oneOf")) {
      for (const Json& form : described.at("oneOf")) add(pointer, form);
    } else if (described.contains("anyOf")) {
      add(pointer,
          described.at("anyOf").front());  // without aliases of other tools
    } else if (described.contains("items") && described.at("items").contains("$ref")) {
      constexpr std::size_t kCompleted = 2;  // a baseline and one other
      for (std::size_t i = 0; i < kCompleted; ++i)
        add(input::pointer(pointer, i), described.at("items"));
    } else {
      Words& values = values_[pointer];
      for (const Json& value : described.value("enum", Json::array()))
        if (value.is_string()) values.push_back(value.get<std::string>());
    }
  }

  Json schema_;
  std::map<std::string, Words> values_;
};

/// Choices by value type and option name.
Choices choices_of(const CLI::Option& option, const Keys& keys) {
  const std::string type = option.get_type_name();
  const Words names = option_names(option);
  constexpr std::size_t kDashes = 2;
  Choices choices;
  if (type == kFormats)
    choices = {.words = keys.of_collective("format"), .list = true};
  else if (!names.empty())
    choices.words = keys.of_collective(names.front().substr(kDashes));
  if (type == kLayout) choices.words.clear();
  if (!names.empty() && names.front() == "--layout")
    choices.words.insert(choices.words.end(), checkpoints::kLayoutNames.begin(),
                         checkpoints::kLayoutNames.end());
  if (type == kChip) choices.words = names_of(input::embedded_hardware());
  if (type == kCases) choices = {.words = case_names(), .list = true};
  if (type == kNew) choices.words = {kNew};
  if (type == kKind) choices.words = {"chakra", "hlo", "kineto", "msccl", "xprof"};
  if (type == kExportKind) choices.words = {"chakra", "csv", "msccl", "nccl-perf", "xla"};
  if (type == kTemplate) choices.words = config_templates();
  choices.files = type == kFile || type == kPath || type == kChip;
  choices.folders = type == kFolder;
  choices.keys = type == kOverride;
  return choices;
}

CompletedCommand command_of(const CLI::App& app, const Keys& keys) {
  CompletedCommand command{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : described_options(app)) {
    const Words names = option_names(*option);
    const Choices choices = takes_value(*option) ? choices_of(*option, keys) : Choices{};
    if (names.empty())
      command.arguments.push_back(
          {option->get_name(true), option->get_items_expected_max() > 1, choices});
    else
      command.options.push_back({names, option->get_description(), takes_value(*option), choices});
  }
  return command;
}

}  // namespace

Completions completions_of(const CLI::App& app) {
  const Keys keys;
  Completions completions{command_of(app, keys), {}, keys.values()};
  completions.top.name.clear();
  for (const CLI::App* command : described_subcommands(app)) {
    if (!described_subcommands(*command).empty())
      throw std::logic_error("completion has one level of subcommands");
    completions.commands.push_back(command_of(*command, keys));
  }
  return completions;
}

std::string key_names(const Completions& completions) {
  std::vector<std::string> names;
  for (const auto& [pointer, values] : completions.keys) names.push_back(pointer + "=");
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace equarx::cli
