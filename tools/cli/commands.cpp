#include "tools/cli/commands.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "experiments/config_json.hpp"
#include "experiments/experiment.hpp"
#include "experiments/input_error.hpp"
#include "experiments/result_json.hpp"
#include "experiments/result_table.hpp"
#include "experiments/schema.hpp"

namespace equarx::cli {
namespace {

using experiments::InputError;
using experiments::Json;

void apply_override(Json& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !text.starts_with('/'))
    throw InputError("", fmt::format("--set {}: expected a JSON pointer, '=' and a value, like "
                                     "/tensor/bytes='\"8 MiB\"'",
                                     text));
  experiments::override_value(config, text.substr(0, equals), text.substr(equals + 1));
}

experiments::Plan load_plan(const ConfigArguments& arguments) {
  Json json = experiments::parse_json(experiments::read_file(arguments.path));
  for (const std::string& text : arguments.overrides) apply_override(json, text);
  const experiments::ExperimentConfig config = experiments::read_config(json);
  experiments::check_schema(json, "experiment");
  return experiments::make_plan(config);
}

/// load_plan(), with the file named in the message.
experiments::Plan load_named(const ConfigArguments& arguments) {
  try {
    return load_plan(arguments);
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.find(arguments.path) != std::string::npos) throw;
    throw InputError("", fmt::format("{}: {}", arguments.path, message));
  }
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw InputError("", "cannot write to standard output");
}

/// One line on a terminal that is written over; nothing where no person watches.
class ProgressLine {
 public:
  ~ProgressLine() { show(""); }

  void show(const std::string& text) const {
    constexpr std::string_view kEraseLine = "\r\x1b[K";
    if (watched_) fmt::print(stderr, "{}{}", kEraseLine, text);
  }

 private:
  bool watched_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace

void run(const ConfigArguments& arguments, bool json) {
  const experiments::Plan plan = load_named(arguments);
  experiments::ExperimentResult result;
  {
    const ProgressLine line;
    result = run_experiment(plan, [&](const std::string& text) { line.show(text); });
  }
  print(json ? to_json(result).dump(2) + "\n" : to_table(result));
}

void show(const ConfigArguments& arguments) {
  print(to_json(load_named(arguments).config).dump(2) + "\n");
}

void validate(const ConfigArguments& arguments) {
  load_named(arguments);
  print(fmt::format("{}: valid\n", arguments.path));
}

}  // namespace equarx::cli
