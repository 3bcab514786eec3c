#include "experiments/study/script.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "experiments/study/refusals.hpp"

namespace equarx::study {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommand = "/script/command";

bool is_file_of_study(std::string_view argument) {
  return argument.ends_with(".py") || argument.ends_with(".sh");
}

fs::path path_of(const StudyScript& script, const std::string& argument) {
  return fs::absolute(script.folder / argument).lexically_normal();
}

bool is_on_path(const std::string& program) {
  const auto can_run = [](const fs::path& file) { return access(file.c_str(), X_OK) == 0; };
  if (program.find('/') != std::string::npos) return can_run(program);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (can_run(fs::path(folder) / program)) return true;
  return false;
}

std::string replaced(std::string text, std::string_view placeholder, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;
       at += value.size())
    text.replace(at, placeholder.size(), value);
  return text;
}

std::vector<std::string> tokens_of(input::Json::json_pointer pointer) {
  std::vector<std::string> tokens;
  for (; !pointer.empty(); pointer.pop_back()) tokens.push_back(pointer.back());
  std::ranges::reverse(tokens);
  return tokens;
}

/// The element of a list; nullptr for other tokens.
const input::Json* element_of(const input::Json& list, const std::string& token) {
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, index);
  return read.ec == std::errc() && read.ptr == end && index < list.size() ? &list[index] : nullptr;
}

/// The value of a key or index. @throws InputError
const input::Json& part_of(const StudyRow& row, const input::Json& whole, const std::string& at,
                           const std::string& token) {
  const std::string place = at.empty() ? "the results" : fmt::format("{} of the results", at);
  if (whole.is_array()) {
    if (const input::Json* element = element_of(whole, token)) return *element;
    refuse(row, "metric",
           fmt::format("there is no '{}' among the {} elements of {}", token, whole.size(), place));
  }
  if (!whole.is_object())
    refuse(row, "metric",
           fmt::format("{} is {}, without '{}'; end the pointer there", place,
                       input::kind_of(whole), token));
  if (const auto found = whole.find(token); found != whole.end()) return *found;
  Names keys;
  for (const auto& [key, value] : whole.items()) keys.push_back(key);
  refuse(row, "metric", fmt::format("there is no '{}' in {}{}", token, place, hint(token, keys)));
}

}  // namespace

void check_script(const StudyScript& script) {
  for (std::size_t i = 0; i < script.command.size(); ++i) {
    const std::string& argument = script.command[i];
    const std::string pointer = input::pointer(kCommand, i);
    if (is_file_of_study(argument)) {
      const fs::path file = path_of(script, argument);
      if (!fs::is_regular_file(file))
        throw input::InputError(pointer,
                                fmt::format("there is no file {}; give a path relative to the "
                                            "study",
                                            file.string()));
    } else if (i == 0 && !is_on_path(argument)) {
      throw input::InputError(pointer,
                              fmt::format("'{}' is not found on PATH; install it", argument));
    }
  }
}

std::vector<std::string> script_command(const StudyScript& script, const fs::path& output,
                                        std::size_t jobs) {
  std::vector<std::string> command;
  for (const std::string& argument : script.command)
    command.push_back(is_file_of_study(argument)
                          ? path_of(script, argument).string()
                          : replaced(replaced(argument, "{jobs}", std::to_string(jobs)), "{output}",
                                     fs::absolute(output).string()));
  return command;
}

input::Json script_results(const StudyScript& script, const fs::path& output) {
  const std::string file = (output / script.results).string();
  if (!fs::exists(file))
    throw input::InputError(file,
                            "the script wrote no such file; correct /script/results or the script");
  return input::within(file, [&] { return input::parse_json(input::read_file(file)); });
}

double number_in_results(const StudyRow& row, const input::Json& results) {
  const input::Json* value = &results;
  std::string at;
  for (const std::string& token : tokens_of(input::Json::json_pointer(row.metric))) {
    value = &part_of(row, *value, at, token);
    at = input::pointer(at, token);
  }
  if (!value->is_number())
    refuse(row, "metric",
           fmt::format("{} of the results is {}, not a number; name a number", at,
                       input::kind_of(*value)));
  return value->get<double>();
}

}  // namespace equarx::study
