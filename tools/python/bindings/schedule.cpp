#include "tools/python/bindings/schedule.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "base/input/errors.hpp"
#include "importers/msccl/msccl_export.hpp"
#include "models/collectives/divide_up.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "tools/python/bindings/schedule_writer.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using collectives::AxisSet;
using collectives::Collective;
using collectives::Phase;
using collectives::ProgramRequest;
using collectives::Rank;
using collectives::RankGrid;
using collectives::RankLayout;
using collectives::Rounds;
using collectives::Tile;
using input::InputError;

constexpr std::array<std::pair<std::string_view, RankLayout>, 5> kLayouts = {{
    {"ring", RankLayout::ring},
    {"grid", RankLayout::grid},
    {"hypercube", RankLayout::hypercube},
    {"any", RankLayout::any},
    {"slices", RankLayout::slices},
}};
constexpr std::array<std::pair<std::string_view, Collective>, 4> kCollectives = {{
    {"all-reduce", Collective::all_reduce},
    {"reduce-scatter", Collective::reduce_scatter},
    {"all-gather", Collective::all_gather},
    {"all-to-all", Collective::all_to_all},
}};
constexpr std::array<std::pair<std::string_view, Phase>, 4> kPhases = {{
    {"reduce-scatter", Phase::reduce_scatter},
    {"all-gather", Phase::all_gather},
    {"reduce-scatter-between", Phase::reduce_scatter_between},
    {"all-gather-between", Phase::all_gather_between},
}};

template <typename Value, std::size_t kCount>
Value choose(const std::array<std::pair<std::string_view, Value>, kCount>& names,
             const std::string& name, std::string_view what) {
  std::string all;
  for (const auto& [known, value] : names) {
    if (known == name) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", known);
  }
  throw InputError("", fmt::format("{} '{}' is unknown; use one of {}", what, name, all));
}

// --- Approximate messages, for planning

/// Messages of a rank to all others, or along the axes.
template <bool kSharded, bool kSlices, std::uint32_t kSegments>
std::vector<Rounds> rounds_of(const ProgramRequest& request) {
  const RankGrid& grid = request.grid;
  std::uint64_t chunk = collectives::divide_up(request.elements, kSegments);
  if (!kSharded) {
    const double rounds = grid.axes() == 1 ? grid.ranks() - 1.0 : static_cast<double>(grid.axes());
    return {{rounds * kSegments, chunk}};
  }
  std::vector<Rounds> rounds;
  for (std::size_t i = 0; i < grid.axes(); ++i) {
    const std::size_t axis = kSlices ? grid.axes() - 1 - i : i;
    chunk = collectives::divide_up(chunk, grid.length(axis));
    rounds.push_back({(grid.length(axis) - 1.0) * kSegments, chunk});
  }
  return rounds;
}

using RoundsOf = std::vector<Rounds> (*)(const ProgramRequest& request);

template <bool kSharded, bool kSlices, std::size_t... kIndices>
RoundsOf rounds_of_segments(std::uint32_t segments, std::index_sequence<kIndices...>) {
  constexpr std::array<RoundsOf, sizeof...(kIndices)> kBySegments = {
      rounds_of<kSharded, kSlices, kIndices + 1>...};
  return kBySegments.at(segments - 1);
}

RoundsOf rounds_of(const ScheduleShape& shape) {
  constexpr auto kAll = std::make_index_sequence<kMostSegments>();
  const bool slices = collectives::is_of_slices(shape.layout);
  if (!shape.sharded) return rounds_of_segments<false, false>(shape.segments, kAll);
  return slices ? rounds_of_segments<true, true>(shape.segments, kAll)
                : rounds_of_segments<true, false>(shape.segments, kAll);
}

std::uint64_t channels_to_neighbors(const RankGrid& grid) { return 2 * grid.axes(); }
std::uint64_t channels_along_axes(const RankGrid& grid) {
  std::uint64_t channels = 0;
  for (const std::uint32_t length : grid.lengths()) channels += length - 1;
  return channels;
}
double no_sharers(const RankGrid&) { return 1.0; }
double all_share(const RankGrid& grid) { return grid.ranks() * (grid.ranks() - 1.0); }

// --- The algorithm

/// An algorithm that calls Python to write its program.
class Schedule : public std::enable_shared_from_this<Schedule> {
 public:
  Schedule(std::string name, py::function write, const std::vector<std::string>& collectives,
           const std::string& layout, bool sharded, int phases, std::uint32_t segments,
           std::optional<std::uint32_t> microshards, bool uniform);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  /// The last owner may be a plan in a thread without the interpreter.
  ~Schedule() {
    const py::gil_scoped_acquire lock;
    write_ = py::function();
  }

  /// A row as in the table; it keeps the schedule.
  std::shared_ptr<const collectives::AlgorithmInfo> algorithm() const {
    return {shared_from_this(), &info_};
  }

 private:
  collectives::Program make(const ProgramRequest& request) const;

  std::string name_;
  std::vector<Collective> collectives_;
  ScheduleShape shape_;
  collectives::AlgorithmInfo info_;
  py::function write_;
};

Schedule::Schedule(std::string name, py::function write,
                   const std::vector<std::string>& collectives, const std::string& layout,
                   bool sharded, int phases, std::uint32_t segments,
                   std::optional<std::uint32_t> microshards, bool uniform)
    : name_(std::move(name)),
      shape_{choose(kLayouts, layout, "layout"), sharded, segments, microshards, uniform},
      write_(std::move(write)) {
  if (name_ == "auto" || collectives::find_algorithm(name_) != nullptr)
    throw InputError(
        "", fmt::format("'{}' is the name of a built-in algorithm; choose another name", name_));
  for (const std::string& one : collectives)
    collectives_.push_back(choose(kCollectives, one, "collective"));
  if (!sharded && collectives_ != std::vector{Collective::all_reduce})
    throw InputError("", "collectives other than \"all-reduce\" are of shards; add shards=True");
  const bool near = shape_.layout == RankLayout::ring || shape_.layout == RankLayout::grid;
  if (near && !uniform)
    throw InputError("",
                     fmt::format("layout \"{}\" is for schedules that all ranks execute alike; use "
                                 "layout=\"any\" with uniform=False",
                                 layout));
  if (!uniform && (sharded || segments > 1))
    throw InputError("",
                     "uniform=False is for schedules of the whole tensor in one segment; remove "
                     "shards and segments");
  info_.name = name_;
  info_.collectives = collectives_;
  info_.layout = shape_.layout;
  info_.has_two_phases = phases == 2;
  info_.is_published = true;
  info_.is_uniform = uniform;
  info_.make = [this](const ProgramRequest& request) { return make(request); };
  info_.rounds = rounds_of(shape_);
  info_.channels = near ? channels_to_neighbors : channels_along_axes;
  info_.sharers = near ? no_sharers : all_share;
}

collectives::Program Schedule::make(const ProgramRequest& request) const {
  const auto writer = std::make_shared<ScheduleWriter>(request, shape_);
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  write_(writer);
  return std::move(*writer).take();
}

// --- Bindings

using Violation = std::optional<std::tuple<std::optional<std::size_t>, std::string, std::string>>;

Violation finish(ScheduleWriter& writer) {
  const auto violation = writer.finish();
  if (!violation) return std::nullopt;
  return std::tuple(violation->call, violation->instruction, violation->why);
}

std::optional<Phase> scales_for(const std::string& phase) {
  if (phase.empty()) return std::nullopt;
  return choose(kPhases, phase, "scales_for");
}

Tile tile_of(std::uint32_t segment, std::uint32_t uncut, std::uint32_t offset,
             std::uint32_t minishard, std::uint32_t micro) {
  return {offset, segment, uncut, minishard, micro};
}

std::string name_of(Collective collective) {
  for (const auto& [known, value] : kCollectives)
    if (value == collective) return std::string(known);
  return {};
}

void bind_writer(py::module_& core) {
  using W = ScheduleWriter;
  py::class_<ScheduleWriter, std::shared_ptr<ScheduleWriter>>(core, "Writer",
                                                              "Writes the program of a schedule.")
      .def_property_readonly("lengths", [](const W& w) { return w.grid().lengths(); })
      .def_property_readonly("collective",
                             [](const W& w) { return name_of(w.program().collective); })
      .def_property_readonly("elements",
                             [](const W& w) { return w.program().partition.elements(); })
      .def_property_readonly("has_scales", &W::has_scales)
      .def("along", [](const W& w, std::size_t axis,
                       std::uint32_t steps) { return w.grid().along(axis, steps); })
      .def("reverse", [](const W& w, Rank offset) { return w.grid().reverse(offset); })
      .def("begin_call", &W::begin_call)
      .def("use_phase",
           [](W& w, const std::string& phase) { w.use_phase(choose(kPhases, phase, "phase")); })
      .def("use_ranks", &W::use_ranks)
      .def("cut",
           [](const W& w, std::uint32_t segment, std::uint32_t uncut) {
             const collectives::Cut cut = w.cut(segment, uncut);
             return std::pair(cut.minishards, cut.microshards);
           })
      .def("add_channel", &W::add_channel)
      .def("begin_strand", &W::begin_strand)
      .def("take_turn", &W::take_turn)
      .def("find_scales",
           [](W& w, std::uint32_t segment, std::uint32_t uncut, std::uint32_t offset,
              std::uint32_t minishard, std::uint32_t micro) {
             w.find_scales(tile_of(segment, uncut, offset, minishard, micro));
           })
      .def("encode_scales",
           [](W& w, std::uint32_t segment, std::uint32_t uncut, std::uint32_t offset,
              std::uint32_t minishard) {
             return w.encode_scales(tile_of(segment, uncut, offset, minishard, 0));
           })
      .def("encode_payload", &W::encode_payload)
      .def("send_scales",
           [](W& w, bool sent, std::size_t id, std::uint32_t channel, AxisSet gathered,
              bool begins) {
             return w.send_scales({sent, id}, channel, gathered, begins);
           })
      .def("send_payload", &W::send_payload)
      .def("wait_scales", &W::wait_scales)
      .def("wait_payload", &W::wait_payload)
      .def("accumulate",
           [](W& w, bool sent, std::size_t id, std::uint32_t micro, const std::string& phase) {
             w.accumulate({sent, id}, micro, scales_for(phase));
           })
      .def("add",
           [](W& w, bool sent, std::size_t id, std::uint32_t micro, const std::string& phase) {
             w.add({sent, id}, micro, scales_for(phase));
           })
      .def("decode",
           [](W& w, bool sent, std::size_t id, std::uint32_t micro) {
             w.decode({sent, id}, micro);
           })
      .def("deliver",
           [](W& w, bool sent, std::size_t id, std::uint32_t micro) {
             w.deliver({sent, id}, micro);
           })
      .def("reduce", &W::reduce)
      .def("store",
           [](W& w, std::uint32_t segment, std::uint32_t uncut, std::uint32_t offset,
              std::uint32_t minishard,
              std::uint32_t micro) { w.store(tile_of(segment, uncut, offset, minishard, micro)); })
      .def(
          "barrier",
          [](W& w, std::uint32_t segment, std::uint32_t uncut, std::uint32_t offset,
             std::uint32_t minishard) { w.barrier(tile_of(segment, uncut, offset, minishard, 0)); })
      .def("offset",
           [](const W& w, bool sent, std::size_t id) {
             return w.tile({sent, id}).shard_offset;
           })
      .def("finish", &finish);
}

std::string export_msccl(std::string config,
                         const std::vector<std::pair<std::string, std::string>>& overrides,
                         const std::string& label, const py::list& schedules) {
  request::Request request{std::move(config), {}};
  for (const auto& [pointer, text] : overrides) request.overrides.push_back({pointer, text});
  add_schedules(schedules, request);
  return plan_request(request, [label](const request::Request& one) {
    return imports::export_msccl(request::collectives_of(one), label);
  });
}

}  // namespace

void add_schedules(const py::list& schedules, request::Request& request) {
  for (const py::handle one : schedules)
    request.algorithms.push_back(one.cast<std::shared_ptr<Schedule>>()->algorithm());
}

void bind_schedule(py::module_& core) {
  py::class_<Schedule, std::shared_ptr<Schedule>>(core, "Schedule",
                                                  "An algorithm whose program Python writes.")
      .def(py::init<std::string, py::function, const std::vector<std::string>&, const std::string&,
                    bool, int, std::uint32_t, std::optional<std::uint32_t>, bool>(),
           py::arg("name"), py::arg("write"), py::arg("collectives"), py::arg("layout"),
           py::arg("sharded"), py::arg("phases"), py::arg("segments"), py::arg("microshards"),
           py::arg("uniform"), "write is called with a Writer, which it finishes.");
  bind_writer(core);
  core.def("export_msccl", &export_msccl, py::arg("config"), py::arg("overrides"), py::arg("label"),
           py::arg("schedules"), "A collective as an MSCCL schedule, in XML.");
}

}  // namespace equarx::python
