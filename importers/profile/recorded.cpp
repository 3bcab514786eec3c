#include "importers/profile/recorded.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "importers/profile/groups.hpp"

namespace equarx::profile {
namespace {

using Durations = std::vector<double>;

/// Sorted, disjoint intervals [start, end) that cover the same time.
std::vector<std::pair<double, double>> united(const std::vector<Span>& spans) {
  std::vector<std::pair<double, double>> all;
  for (const Span& span : spans) all.emplace_back(span.start_s, span.end_s());
  std::ranges::sort(all);
  std::vector<std::pair<double, double>> made;
  for (const auto& [start, end] : all)
    if (!made.empty() && start <= made.back().second)
      made.back().second = std::max(made.back().second, end);
    else
      made.emplace_back(start, end);
  return made;
}

double length(const std::vector<std::pair<double, double>>& intervals) {
  double sum = 0.0;
  for (const auto& [start, end] : intervals) sum += end - start;
  return sum;
}

/// Time covered by both.
double shared(const std::vector<std::pair<double, double>>& a,
              const std::vector<std::pair<double, double>>& b) {
  double sum = 0.0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
    a[i].second < b[j].second ? ++i : ++j;
  }
  return sum;
}

/// Durations of a call: by device, in the order of execution.
using ByDevice = std::map<std::uint32_t, Durations>;

std::vector<ByDevice> by_call(const Profile& profile) {
  std::vector<Execution> executions = profile.executions;
  std::ranges::stable_sort(executions, {}, [](const Execution& of) { return of.span.start_s; });
  std::vector<ByDevice> made(profile.calls.size());
  for (const Execution& of : executions) made[of.call][of.device].push_back(of.span.duration_s);
  return made;
}

/// The shortest duration of each execution on any device.
Durations matched(const Call& call, const ByDevice& devices, Notes& notes) {
  const std::size_t count = devices.begin()->second.size();
  const bool match = std::ranges::all_of(
      devices, [&](const auto& device) { return device.second.size() == count; });
  Durations made;
  for (const auto& [device, durations] : devices)
    if (!match || made.empty())
      made.insert(made.end(), durations.begin(), durations.end());
    else
      std::ranges::transform(made, durations, made.begin(),
                             [](double a, double b) { return std::min(a, b); });
  if (!match)
    ++notes[fmt::format("executions of {} differ in number between chips and are not matched",
                        call.name)];
  return made;
}

/// True if both calls are of the same row.
bool same_kind(const Call& a, const Call& b) {
  return a.kind == b.kind && a.type == b.type && a.bytes == b.bytes && a.groups == b.groups &&
         a.chips == b.chips && a.can_quantize == b.can_quantize && a.obstacle == b.obstacle;
}

double median(const Durations& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0;
}

}  // namespace

void complete_groups(Profile& profile, std::uint32_t chips) {
  for (Call& call : profile.calls) {
    if (call.groups.size() != 1 || call.groups.front().size() == chips) continue;
    if (const auto all = tiled(call.groups.front(), chips)) {
      call.groups = *all;
      continue;
    }
    ++profile
          .notes[fmt::format("the group of {} of '{}' has no translations that divide the {} "
                             "chips: simulated with the others idle",
                             call.name, call.sequence, chips)];
  }
}

std::vector<Recorded> recorded(Profile& profile) {
  std::vector<Recorded> rows;
  std::vector<Durations> of_row;
  const std::vector<ByDevice> calls = by_call(profile);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = profile.calls[i];
    if (calls[i].empty()) continue;
    const Durations durations = matched(call, calls[i], profile.notes);
    const auto found =
        std::ranges::find_if(rows, [&](const Recorded& row) { return same_kind(row.call, call); });
    const auto row = static_cast<std::size_t>(found - rows.begin());
    if (found == rows.end()) {
      rows.push_back({.call = call});
      of_row.emplace_back();
    }
    of_row[row].insert(of_row[row].end(), durations.begin(), durations.end());
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::ranges::sort(of_row[row]);
    rows[row].times = of_row[row].size();
    rows[row].median_s = median(of_row[row]);
    rows[row].min_s = of_row[row].front();
    rows[row].max_s = of_row[row].back();
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const Recorded& row) {
    return row.median_s * static_cast<double>(row.times);
  });
  return rows;
}

Communication communication(const Profile& profile) {
  Communication sum;
  for (const Device& device : profile.devices) {
    std::vector<Span> all = device.communication;
    all.insert(all.end(), device.other.begin(), device.other.end());
    if (all.empty()) continue;
    const auto running = united(device.communication);
    const auto whole = united(all);
    sum.span_s += whole.back().second - whole.front().first;
    sum.running_s += length(running);
    sum.exposed_s += length(running) - shared(running, united(device.other));
  }
  const auto devices = static_cast<double>(profile.devices.size());
  return {sum.span_s / devices, sum.running_s / devices, sum.exposed_s / devices};
}

}  // namespace equarx::profile
