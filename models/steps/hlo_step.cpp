#include "models/steps/hlo_step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/algorithm.hpp"
#include "models/hlo/device_axes.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using hlo::CollectiveKind;
using hlo::CollectiveSite;
using hlo::FlowStep;
using numerics::ElementFormat;

constexpr std::size_t kMostTasks = 100'000;
constexpr std::size_t kMostOperations = 1'000'000;
constexpr double kMostElements = 1e12;

std::optional<collectives::Collective> collective_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return collectives::Collective::all_reduce;
    case CollectiveKind::reduce_scatter: return collectives::Collective::reduce_scatter;
    case CollectiveKind::all_gather: return collectives::Collective::all_gather;
    case CollectiveKind::all_to_all: return collectives::Collective::all_to_all;
    case CollectiveKind::broadcast: return collectives::Collective::broadcast;
    case CollectiveKind::permute: return std::nullopt;
  }
  throw std::logic_error("unknown collective");
}

/// The type that stands for one of HLO's.
struct TensorType {
  ElementFormat format = ElementFormat::fp32;
  bool is_exact = true;  ///< it is this type, and not only as large
};

TensorType tensor_type(const std::string& type) {
  if (type == "f32") return {ElementFormat::fp32};
  if (type == "bf16") return {ElementFormat::bf16};
  if (type == "f16") return {ElementFormat::fp16};
  if (type == "f8e4m3fn" || type == "f8e4m3") return {ElementFormat::fp8_e4m3};
  if (type == "f8e5m2") return {ElementFormat::fp8_e5m2};
  constexpr std::uint32_t kByte = 8;
  constexpr std::uint32_t kTwoBytes = 16;
  const std::uint32_t bits = hlo::type_bits(type);
  if (bits <= kByte) return {ElementFormat::fp8_e4m3, false};
  return {bits == kTwoBytes ? ElementFormat::bf16 : ElementFormat::fp32, false};
}

/// What becomes of each collective. Lists of chips go into a graph.
class Collectives {
 public:
  Collectives(const Mesh& mesh, StepGraph& graph)
      : axes_(mesh.lengths()), chips_(mesh.chips()), graph_(graph) {}

  ImportedCollective import(const CollectiveSite& site) {
    ImportedCollective made;
    made.group =
        names_.insert(site.name).second ? site.name : site.name + " of " + site.computation;
    while (!groups_.insert(made.group).second) made.group += "'";
    const TensorType type = tensor_type(site.type);
    const auto collective = collective_of(site.kind);
    made.can_quantize = type.is_exact && is_wide(type.format) && collective &&
                        collectives::sums(*collective) && (site.combines.empty() || site.adds);
    made.obstacle = set_chips(site, made);
    if (!made.obstacle.empty() || made.permute) return made;
    made.call.collective = collective.value();
    made.call.dtype = type.format;
    made.call.elements = elements_of(site.bytes, type.format);
    return made;
  }

  /// Why it is not simulated; empty if it is, and then its groups or pairs are set.
  std::string set_chips(const CollectiveSite& site, ImportedCollective& made) const {
    if (site.bytes <= 0.0) return "moves nothing";
    if (site.bytes > kMostElements) return "is too large";
    if (site.kind == CollectiveKind::permute) return set_pairs(site, made);
    if (site.groups.empty()) return "its groups cannot be read";
    return set_groups(axes_.axes_of(site.groups), site.groups, chips_, graph_, made.call);
  }

  std::string set_pairs(const CollectiveSite& site, ImportedCollective& made) const {
    if (site.pairs.empty()) return "its pairs cannot be read";
    std::vector<std::vector<std::uint32_t>> pairs;
    for (const auto& [from, to] : site.pairs) pairs.push_back({from, to});
    const std::string why_not = why_no_pairs(pairs, chips_);
    if (!why_not.empty()) return "its pairs cannot be simulated: " + why_not;
    made.permute = {.pairs = chip_lists_id(graph_.chip_lists, std::move(pairs)),
                    .bytes = static_cast<std::uint64_t>(std::ceil(site.bytes))};
    return {};
  }

  hlo::DeviceAxes axes_;
  std::uint32_t chips_;
  StepGraph& graph_;
  std::set<std::string> names_;
  std::set<std::string> groups_;
};

class TaskList {
 public:
  /// `graph`: has no tasks yet
  TaskList(const hlo::Flow& flow, const Mesh& mesh,
           const std::vector<ImportedCollective>& collectives, StepGraph& graph)
      : flow_(flow),
        mesh_(mesh),
        collectives_(collectives),
        graph_(graph),
        last_(flow.sites.size()) {}

  void build() {
    add_list(flow_.entry);
    flush();
    if (graph_.tasks.empty()) throw std::invalid_argument("the program does nothing");
  }

 private:
  void add_list(hlo::ComputationId list) {
    for (const FlowStep& step : flow_.lists[list]) {
      switch (step.kind) {
        case FlowStep::Kind::work: add_work(step); break;
        case FlowStep::Kind::begin: begin(step.site); break;
        case FlowStep::Kind::end: end(step.site); break;
        case FlowStep::Kind::repeat:
          for (std::uint64_t time = 0; time < step.times; ++time) {
            if (++runs_ > kMostOperations) refuse();
            add_list(step.body);
          }
          break;
      }
    }
  }

  void add_work(const FlowStep& step) {
    const hlo::Cost& cost = step.cost;
    if (cost.from_host_bytes > 0.0)
      move(HostTransfer::Direction::from_host,
           cost.from_host_bytes * static_cast<double>(step.times));
    if (cost.matrix_flops > 0.0 || cost.vector_ops > 0.0 || cost.hbm_bytes > 0.0) {
      // What was awaited came before this work.
      if (!awaited_.empty()) begin_work();
      work_.operations.push_back({.name = "instruction",
                                  .kind = workloads::OperationKind::matrix,
                                  .flops = cost.matrix_flops,
                                  .products = cost.products,
                                  .vector_ops = cost.vector_ops,
                                  .read_bytes = cost.hbm_bytes,
                                  .times = step.times});
      work_.model_flops += cost.matrix_flops * static_cast<double>(step.times);
      if (++operations_ > kMostOperations) refuse();
    }
    if (cost.to_host_bytes > 0.0)
      move(HostTransfer::Direction::to_host, cost.to_host_bytes * static_cast<double>(step.times));
  }

  /// Work of a new task waits for what was awaited.
  void begin_work() {
    if (work_.operations.empty()) work_after_ = std::exchange(awaited_, {});
  }

  /// Makes a task of the work that is not one yet.
  void flush() {
    if (work_.operations.empty()) return;
    const TaskId id = add({.name = fmt::format("compute {}", computations_++),
                           .group = "compute",
                           .stream = stream_id(graph_, "core"),
                           .work = std::exchange(work_, {}),
                           .after = std::exchange(work_after_, {})});
    core_ = id;
  }

  void begin(hlo::SiteId site) {
    const ImportedCollective& collective = collectives_[site];
    if (!collective.obstacle.empty()) return;
    flush();
    const std::string stream = collective.permute ? "permute" : over_text(collective.call, mesh_);
    last_[site] = add({.name = fmt::format("{} {}", collective.group, tasks_of_site_[site]++),
                       .group = collective.group,
                       .stream = stream_id(graph_, stream),
                       .work = work_of(collective),
                       .after = now()});
  }

  /// Work that stands behind it waits for it, and so need not wait for what it has waited for itself.
  void end(hlo::SiteId site) {
    if (!last_[site]) return;
    flush();
    const std::vector<TaskId>& before = graph_.tasks[*last_[site]].after;
    std::erase_if(awaited_,
                  [&](TaskId id) { return std::ranges::find(before, id) != before.end(); });
    awaited_.push_back(*last_[site]);
  }

  void move(HostTransfer::Direction direction, double bytes) {
    flush();
    const bool out = direction == HostTransfer::Direction::to_host;
    const char* stream = out ? "to-host" : "from-host";
    awaited_ = {add({.name = fmt::format("{} {}", stream, transfers_++),
                     .group = stream,
                     .stream = stream_id(graph_, stream),
                     .work = HostTransfer{.direction = direction, .bytes = bytes},
                     .after = now()})};
  }

  /// What must be done where the program is.
  std::vector<TaskId> now() const {
    std::vector<TaskId> after = awaited_;
    if (core_) after.push_back(*core_);
    return after;
  }

  TaskId add(Task task) {
    if (graph_.tasks.size() == kMostTasks) refuse();
    graph_.tasks.push_back(std::move(task));
    return static_cast<TaskId>(graph_.tasks.size() - 1);
  }

  [[noreturn]] static void refuse() {
    throw std::invalid_argument(
        fmt::format("makes more than {} tasks or {} operations; let a loop run less often, by "
                    "--trip-count LOOP=COUNT",
                    kMostTasks, kMostOperations));
  }

  const hlo::Flow& flow_;
  const Mesh& mesh_;
  const std::vector<ImportedCollective>& collectives_;
  StepGraph& graph_;
  Computation work_;                         // no task yet
  std::vector<TaskId> work_after_;           // what it waits for
  std::vector<TaskId> awaited_;              // that no task of the core waits for yet
  std::optional<TaskId> core_;               // the last of the core
  std::vector<std::optional<TaskId>> last_;  // by site
  std::vector<std::uint32_t> tasks_of_site_ = std::vector<std::uint32_t>(flow_.sites.size());
  std::uint32_t computations_ = 0;
  std::uint32_t transfers_ = 0;
  std::size_t operations_ = 0;
  std::size_t runs_ = 0;
};

}  // namespace

std::vector<MeshAxis> axes_for(const hlo::Flow& flow, std::uint32_t devices) {
  hlo::DeviceAxes axes(devices);
  for (const CollectiveSite& site : flow.sites)
    if (!site.groups.empty()) axes.divide_for(site.groups);
  return named_axes(axes.lengths());
}

HloStep hlo_step(const hlo::Flow& flow, const Mesh& mesh) {
  HloStep step;
  Collectives collectives(mesh, step.graph);
  for (const CollectiveSite& site : flow.sites)
    step.collectives.push_back(collectives.import(site));
  TaskList(flow, mesh, step.collectives, step.graph).build();
  return step;
}

}  // namespace equarx::steps
