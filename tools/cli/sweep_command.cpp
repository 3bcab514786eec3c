#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/runner.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/overrides.hpp"
#include "tools/cli/results_folder.hpp"
#include "tools/cli/sweep_notes.hpp"

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

/// Rejects overrides of keys that an axis varies.
void check_no_axis(const sweep::Sweep& sweep, const char* option, const std::string& pointer) {
  for (const sweep::SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (pointer == key || pointer.starts_with(key + '/'))
        throw InputError(axis.pointer, fmt::format("{} {}: the sweep varies {}; change the values "
                                                   "of the axis instead",
                                                   option, pointer, key));
}

void override_base(sweep::Sweep& sweep, const Overrides& overrides) {
  for (const std::string& pointer : overrides.unset) check_no_axis(sweep, "--unset", pointer);
  for (const std::string& override : overrides.set)
    check_no_axis(sweep, "--set", pointer_of_override(override));
  apply_overrides(*sweep.base, overrides);
}

sweep::SweepPoints load_points(const SweepArguments& arguments) {
  constexpr std::size_t kMostWithoutYes = 100'000;
  sweep::Sweep sweep = sweep::load_sweep(arguments.file);
  return naming_file(arguments.file, [&] {
    override_base(sweep, arguments.overrides);
    sweep::SweepPoints points(std::move(sweep));
    if (points.size() > kMostWithoutYes && !arguments.yes && !arguments.dry_run)
      throw InputError(
          "", fmt::format("has {} points; confirm with --yes, or use fewer values", points.size()));
    points.check();
    return points;
  });
}

std::string axes_text(const sweep::SweepPoints& points) {
  std::string text = fmt::format("{}: {} points", points.sweep().name, points.size());
  if (points.excluded() > 0) text += fmt::format(" ({} excluded)", points.excluded());
  text += '\n';
  for (const sweep::SweepAxis& axis : points.sweep().axes) {
    text += fmt::format("  {}: {} from {} to {}\n", axis.name(), axis.steps.size(),
                        axis.step_text(0), axis.step_text(axis.steps.size() - 1));
  }
  return text;
}

void print_plan(const sweep::SweepPoints& points, const std::filesystem::path& folder,
                const sweep::SweepOptions& options) {
  const sweep::SweepStore store(folder);
  report_broken(store);
  const sweep::SweepStatus status = sweep_status(points, store, options);
  print(axes_text(points) + fmt::format("  {} of this run's {} points to compute, into {}\n",
                                        status.points - status.done, status.points,
                                        folder.string()));
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) print_message(fmt::format("equarx-sim: {}\n", note));
}

int run(const sweep::SweepPoints& points, const std::filesystem::path& folder,
        const sweep::SweepOptions& options, bool fresh) {
  ResultsFolder results(folder, fresh);
  const sweep::SweepOutcome outcome = results.compute(points, options);
  if (outcome.signal != 0) return exit_code_of_signal(outcome.signal);
  const sweep::SweepStatus& status = outcome.status;
  const std::filesystem::path table = results.write_table(points, outcome);
  const std::string does_not_fit =
      status.does_not_fit > 0 ? ", " + does_not_fit_text(status.does_not_fit) : "";
  print(fmt::format("{}: {} points, {} computed now{}, {} failed\n{}\n{}\n", points.sweep().name,
                    status.points, status.computed, does_not_fit, status.failed,
                    results.store().file().string(), table.string()));
  const sweep::SweepStore& store = results.store();
  print_notes(does_not_fit_notes(points, outcome.keyed, store));
  print_notes(failure_notes(points, outcome.keyed, store));
  print_notes(older_rows_notes(older_rows(points, outcome.keyed, store), store.file()));
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
