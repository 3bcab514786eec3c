#include "importers/profile/import.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/os/printable.hpp"
#include "importers/common/device_axes.hpp"
#include "importers/common/machine_text.hpp"
#include "importers/profile/kineto.hpp"
#include "importers/profile/xprof.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::imports {
namespace {

using input::InputError;
using profile::Call;
using profile::Profile;
using profile::Recorded;

constexpr double kMaxCallBytes = 1e12;
constexpr const char* kStandardInput = "-";

Profile read_all(Profiler profiler, const std::vector<std::string>& paths,
                 const std::function<std::string(const std::string&)>& read, std::uint32_t chips) {
  Profile all;
  for (const std::string& path : paths)
    input::within("profile " + (path == kStandardInput ? "from standard input" : path), [&] {
      const std::string text = read(path);
      const Profile one = profiler == Profiler::kineto ? profile::read_kineto(text)
                                                       : profile::read_xprof(text, chips);
      if (all.devices.empty())
        all = one;
      else
        merge(all, one);
    });
  if (all.chips > 0 && all.chips != chips)
    throw InputError("", fmt::format("--topology: the profile is of a run on {} chip{}, but the "
                                     "machine has {}",
                                     all.chips, all.chips == 1 ? "" : "s", chips));
  return all;
}

bool covers(const Call& call, std::uint32_t chips) {
  return !call.groups.empty() && !steps::unlisted_chip(call.groups, chips);
}

std::vector<steps::MeshAxis> axes_for(const std::vector<Recorded>& rows, std::uint32_t chips) {
  DeviceAxes axes(chips);
  for (const Recorded& row : rows)
    if (row.call.collective && covers(row.call, chips)) axes.divide_for(row.call.groups);
  return steps::named_axes(axes.lengths());
}

/// Converts rows to collectives of a step.
class ProfileStep {
 public:
  explicit ProfileStep(const steps::Mesh& mesh)
      : mesh_(mesh), axes_(mesh.lengths()), chips_(mesh.chips()) {}

  /// Adds the task of a row, unless it cannot be simulated.
  ImportedOp add(const Recorded& row, std::size_t number, const ProgramOptions& options) {
    const Call& call = row.call;
    steps::ImportedCollective made;
    made.group = fmt::format("{} {}", call.kind, number);
    made.can_quantize = call.can_quantize;
    made.skip_reason = set_call(call, made);
    if (made.skip_reason.empty()) add_task(made);
    return {.group = made.group,
            .op_name = call.name,
            .kind = call.kind,
            .type = call.type,
            .bytes = call.bytes,
            .chips = call.chips,
            .axes = made.skip_reason.empty() ? axes_text(made, mesh_) : "",
            .times = static_cast<double>(row.times),
            .skip_reason = made.skip_reason,
            .quantized = is_quantized(made, call.bytes, options)};
  }

  const steps::StepGraph& graph() const { return graph_; }

 private:
  std::string set_call(const Call& call, steps::ImportedCollective& made) {
    if (!call.obstacle.empty()) return call.obstacle;
    if (call.bytes > kMaxCallBytes) return "too large";
    made.call.collective = call.collective.value();
    made.call.dtype = call.format;
    made.call.elements = steps::elements_of(call.bytes, call.format);
    const auto along = covers(call, chips_) ? axes_.axes_of(call.groups) : std::nullopt;
    return set_groups(along, call.groups, chips_, graph_, made.call);
  }

  void add_task(const steps::ImportedCollective& made) {
    graph_.tasks.push_back({.name = made.group,
                            .group = made.group,
                            .stream = steps::stream_id(graph_, "collectives"),
                            .work = work_of(made),
                            .after = {}});
  }

  const steps::Mesh& mesh_;
  DeviceAxes axes_;
  std::uint32_t chips_;
  steps::StepGraph graph_;
};

}  // namespace

std::string read_profile_text(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{2} << 30;
  return read_limited_file(path, kMostBytes, "profiles");
}

ImportedProfile import_profile(Profiler profiler, const std::vector<std::string>& paths,
                               const std::function<std::string(const std::string&)>& read,
                               const ProgramOptions& options) {
  const ProgramMachine machine = read_machine(options);
  Profile recorded = read_all(profiler, paths, read, machine.chips());
  profile::complete_groups(recorded, machine.chips());
  ImportedProfile made{.chip = recorded.chip,
                       .devices = static_cast<std::uint32_t>(recorded.devices.size()),
                       .communication = profile::communication(recorded),
                       .rows = profile::recorded(recorded),
                       .program = {}};
  const steps::Mesh mesh =
      mesh_for(machine, options, [&] { return axes_for(made.rows, machine.chips()); });
  ProfileStep step(mesh);
  ImportedProgram& program = made.program;
  program.name = paths.front() == kStandardInput
                     ? "standard input"
                     : os::printable(std::filesystem::path(paths.front()).filename().string());
  program.devices = machine.chips();
  for (const Recorded& row : made.rows)
    program.ops.push_back(step.add(row, program.ops.size(), options));
  for (const auto& [note, count] : recorded.notes) program.notes[os::printable(note)] += count;
  if (!step.graph().tasks.empty())
    program.step = step_json(step.graph(), mesh, machine, options, program.ops);
  return made;
}

}  // namespace equarx::imports
