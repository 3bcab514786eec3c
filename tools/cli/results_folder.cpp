#include "tools/cli/results_folder.hpp"

#include <fmt/format.h>

#include "base/input/renamed_keys.hpp"
#include "base/os/threads.hpp"
#include "base/output/files.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/sweep_progress.hpp"

namespace equarx::cli {
namespace {

const std::filesystem::path& made(const std::filesystem::path& folder) {
  output::check_folder(folder);
  output::make_folder(folder);
  return folder;
}

const std::filesystem::path& begun(const std::filesystem::path& folder, bool fresh) {
  const std::filesystem::path aside = fresh ? sweep::move_results_aside(folder) : "";
  if (!aside.empty())
    print_message(fmt::format("equarx-sim: older results moved to {}\n", aside.string()));
  return folder;
}

}  // namespace

std::size_t jobs_or_cores(std::size_t jobs) { return jobs == 0 ? os::default_threads() : jobs; }

int exit_code_of_signal(int signal) {
  constexpr int kExitSignal = 128;
  return kExitSignal + signal;
}

void report_broken(const sweep::SweepStore& store) {
  if (store.broken_lines() > 0)
    print_message(fmt::format(
        "equarx-sim: {}: {} broken or incomplete line{} ignored and recomputed\n",
        store.file().string(), store.broken_lines(), store.broken_lines() == 1 ? "" : "s"));
  if (store.has_old_keys())
    print_message(
        fmt::format("equarx-sim: note: {}\n", input::renamed_note(store.file().string())));
}

ResultsFolder::ResultsFolder(const std::filesystem::path& folder, bool fresh)
    : folder_(folder), lock_(made(folder)), store_(begun(folder, fresh)) {
  report_broken(store_);
  store_.open();
}

sweep::SweepOutcome ResultsFolder::compute(const sweep::PointSet& points,
                                           const sweep::SweepOptions& options) {
  sweep::SweepOutcome outcome;
  {
    SweepProgress progress;
    outcome = run_sweep(points, store_, options,
                        [&](const sweep::SweepStatus& status) { progress.show(status); });
  }
  if (outcome.signal != 0)
    print_message(fmt::format(
        "equarx-sim: stopped by signal {} with {} of {} points done; run the same command again to "
        "continue\n",
        outcome.signal, outcome.status.done, outcome.status.points));
  return outcome;
}

std::filesystem::path ResultsFolder::write_table(const sweep::PointSet& points,
                                                 const sweep::SweepOutcome& outcome) const {
  return output::write_file(folder_ / "results.csv", sweep_csv(points, outcome.keyed, store_));
}

}  // namespace equarx::cli
