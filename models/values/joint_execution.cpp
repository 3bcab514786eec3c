#include "models/values/joint_execution.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>

#include "base/os/parallel_for.hpp"
#include "models/values/value_run.hpp"

namespace equarx::values {
namespace {

/// A unit of one of the runs.
struct RunUnit {
  std::size_t run = 0;
  std::size_t unit = 0;
  collectives::Range elements;
};

using Runs = std::vector<std::unique_ptr<ValueRun>>;

/// Units of each run.
using Group = std::vector<std::vector<std::size_t>>;

/// Units of all runs in groups without common elements.
std::vector<Group> groups_of(const Runs& runs) {
  std::vector<RunUnit> units;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (std::size_t unit = 0; unit < runs[run]->units(); ++unit)
      units.push_back({run, unit, runs[run]->elements_of(unit)});
  std::ranges::stable_sort(units, {}, [](const RunUnit& unit) { return unit.elements.begin; });
  std::vector<Group> groups;
  std::uint64_t end = 0;
  for (const RunUnit& unit : units) {
    if (groups.empty() || unit.elements.begin >= end) groups.emplace_back(runs.size());
    groups.back()[unit.run].push_back(unit.unit);
    end = std::max(end, unit.elements.end);
  }
  return groups;
}

/// Position of one run in a group.
class Cursor {
 public:
  Cursor(ValueRun& run, const std::vector<std::size_t>& units) : run_(run), units_(units) {
    if (!done()) parts_ = run_.parts_of(units_.front());
  }

  bool done() const { return at_ == units_.size(); }
  /// Elements of the next part.
  collectives::Range elements() const {
    const std::uint64_t begin = run_.elements_of(units_[at_]).begin;
    return {begin + parts_[part_].range.begin, begin + parts_[part_].range.end};
  }
  /// Computes the next part.
  void compute(ValueRun::Worker& worker, std::mutex& results) {
    run_.compute(units_[at_], parts_[part_], worker, &results);
    if (++part_ < parts_.size()) return;
    part_ = 0;
    if (++at_; !done()) parts_ = run_.parts_of(units_[at_]);
  }

 private:
  ValueRun& run_;
  const std::vector<std::size_t>& units_;
  std::vector<LanePart> parts_;  ///< of the unit at `at_`
  std::size_t at_ = 0;
  std::size_t part_ = 0;
};

/// The run whose next part begins first, among runs that lag the first run.
std::size_t next_of(const std::vector<Cursor>& cursors) {
  const Cursor& first = cursors.front();
  std::size_t next = cursors.size();
  for (std::size_t run = 0; run < cursors.size(); ++run) {
    if (cursors[run].done()) continue;
    const collectives::Range range = cursors[run].elements();
    if (run > 0 && !first.done() && first.elements().begin < range.end) continue;
    if (next == cursors.size() || range.begin < cursors[next].elements().begin) next = run;
  }
  return next;
}

/// State of one thread: a worker for each run, and inputs that they all read.
class JointWorker {
 public:
  JointWorker(const Runs& runs, const TensorSource& source, std::uint64_t most_kept)
      : runs_(runs),
        source_(source),
        most_kept_(most_kept),
        inputs_(source),
        workers_(runs.size()) {}

  void compute(const Group& group, std::mutex& results) {
    std::vector<Cursor> cursors;
    for (std::size_t run = 0; run < runs_.size(); ++run)
      cursors.emplace_back(*runs_[run], group[run]);
    for (std::size_t run = next_of(cursors); run < cursors.size(); run = next_of(cursors)) {
      forget_before(cursors);
      if (!workers_[run]) workers_[run] = runs_[run]->make_worker(inputs_);
      cursors[run].compute(*workers_[run], results);
    }
  }

 private:
  /// Drops the inputs once all runs are past enough of them.
  void forget_before(const std::vector<Cursor>& cursors) {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
    for (const Cursor& cursor : cursors)
      if (!cursor.done()) begin = std::min(begin, cursor.elements().begin);
    if (begin >= kept_from_ && begin < kept_from_ + 2 * kPartElements) return;
    kept_from_ = begin;
    inputs_ = source_;
    inputs_.keep(most_kept_);
  }

  const Runs& runs_;
  const TensorSource& source_;
  std::uint64_t most_kept_;
  std::uint64_t kept_from_ = std::numeric_limits<std::uint64_t>::max();  ///< none yet
  TensorSource inputs_;
  std::vector<std::unique_ptr<ValueRun::Worker>> workers_;
};

}  // namespace

std::vector<ValueResult> execute_jointly(std::span<const Execution> executions,
                                         const TensorSource& source, const JointOptions& options) {
  Runs runs;
  for (const Execution& execution : executions)
    runs.push_back(std::make_unique<ValueRun>(*execution.program, source, execution.options));
  const std::vector<Group> groups = groups_of(runs);
  const unsigned wanted = options.threads == 0 ? default_threads() : options.threads;
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(wanted, groups.size()));
  std::vector<std::unique_ptr<JointWorker>> workers(std::max(threads, 1U));
  const std::uint64_t most_kept = options.most_kept / workers.size();
  std::mutex results;
  os::parallel_for(groups.size(), threads, [&](std::size_t group, unsigned thread) {
    if (!workers[thread]) workers[thread] = std::make_unique<JointWorker>(runs, source, most_kept);
    workers[thread]->compute(groups[group], results);
    if (thread == 0 && options.watch)
      options.watch(static_cast<double>(group) / static_cast<double>(groups.size()));
  });
  std::vector<ValueResult> all;
  for (const std::unique_ptr<ValueRun>& run : runs) all.push_back(run->result());
  return all;
}

}  // namespace equarx::values
