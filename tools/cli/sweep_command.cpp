#include "tools/cli/sweep_command.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/runner.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/results_folder.hpp"

namespace equarx::cli {
namespace {

using input::InputError;

sweep::SweepShard read_shard(const std::string& text) {
  sweep::SweepShard shard;
  if (text.empty()) return shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool has_slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = has_slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!has_slash || count.ec != std::errc() || count.ptr != end || shard.index < 1 ||
      shard.index > shard.count)
    throw InputError("",
                     fmt::format("--shard {}: expected i/n with i from 1 to n, like 2/8", text));
  return shard;
}

std::filesystem::path folder_of(const SweepArguments& arguments, const sweep::Sweep& sweep,
                                const sweep::SweepShard& shard) {
  if (!arguments.output.empty()) return arguments.output;
  const std::filesystem::path folder = std::filesystem::path("results") / sweep.name;
  if (arguments.shard.empty()) return folder;
  return folder / fmt::format("shard-{}-of-{}", shard.index, shard.count);
}

sweep::SweepPoints load_points(const SweepArguments& arguments) {
  constexpr std::size_t kMostWithoutYes = 100'000;
  sweep::Sweep sweep = sweep::load_sweep(arguments.file);
  return naming_file(arguments.file, [&] {
    sweep::SweepPoints points(std::move(sweep));
    if (points.size() > kMostWithoutYes && !arguments.yes && !arguments.dry_run)
      throw InputError("", fmt::format("has {} points; give --yes if you mean it, or fewer values",
                                       points.size()));
    points.check();
    return points;
  });
}

std::string axes_text(const sweep::SweepPoints& points) {
  std::string text = fmt::format("{}: {} points", points.sweep().name, points.size());
  if (points.excluded() > 0) text += fmt::format(" ({} excluded)", points.excluded());
  text += '\n';
  for (const sweep::SweepAxis& axis : points.sweep().axes) {
    const auto step_text = [](const std::vector<input::JsonValue>& step) {
      if (step.size() == 1) return step.front()->dump();
      input::Json values = input::Json::array();
      for (const input::JsonValue& value : step) values.push_back(*value);
      return values.dump();
    };
    text += fmt::format("  {}: {} from {} to {}\n", axis.name(), axis.steps.size(),
                        step_text(axis.steps.front()), step_text(axis.steps.back()));
  }
  return text;
}

void print_plan(const sweep::SweepPoints& points, const std::filesystem::path& folder,
                const sweep::SweepOptions& options) {
  const sweep::SweepStore store(folder);
  report_broken(store);
  const sweep::SweepStatus status = sweep_status(points, store, options);
  print(axes_text(points) +
        fmt::format("  {} of this run's {} points are to be computed, into {}\n",
                    status.points - status.done, status.points, folder.string()));
}

int run(const sweep::SweepPoints& points, const std::filesystem::path& folder,
        const sweep::SweepOptions& options, bool fresh) {
  ResultsFolder results(folder, fresh);
  const sweep::SweepOutcome outcome = results.compute(points, options);
  if (outcome.signal != 0) return exit_code_of_signal(outcome.signal);
  const sweep::SweepStatus& status = outcome.status;
  const std::filesystem::path table = results.write_table(points, outcome);
  print(fmt::format("{}: {} points, {} computed now, {} failed\n{}\n{}\n", points.sweep().name,
                    status.points, status.computed, status.failed, results.store().file().string(),
                    table.string()));
  return status.failed == 0 ? EXIT_SUCCESS : kExitPointsFailed;
}

}  // namespace

int sweep(const SweepArguments& arguments) {
  const sweep::SweepShard shard = read_shard(arguments.shard);
  const sweep::SweepPoints points = load_points(arguments);
  const std::filesystem::path folder = folder_of(arguments, points.sweep(), shard);
  const sweep::SweepOptions options{
      .jobs = jobs_or_cores(arguments.jobs), .shard = shard, .retry = arguments.retry};
  if (!arguments.dry_run) return run(points, folder, options, arguments.fresh);
  print_plan(points, folder, options);
  return EXIT_SUCCESS;
}

}  // namespace equarx::cli
