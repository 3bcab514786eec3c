#include "tools/python/bindings/program.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/request/request.hpp"
#include "sim/time_executor.hpp"
#include "tools/python/bindings/schedule.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Op;
using collectives::Program;
using input::Json;

/// The instructions of a planned collective.
class Instructions {
 public:
  explicit Instructions(std::shared_ptr<const plan::Plan> plan) : plan_(std::move(plan)) {}

  std::uint32_t ranks() const { return program().ranks(); }
  std::string list() const;
  std::string timeline() const;

 private:
  const plan::CollectivePlan& collective() const {
    return plan_->collectives.front().candidates.front();
  }
  const Program& program() const { return collective().program; }

  std::shared_ptr<const plan::Plan> plan_;
};

/// Adds the instruction's tile in the tensor; for a send or a wait, the tile of its message.
void add_tile(const Program& program, const Instruction& instruction, Json& row) {
  const collectives::Tile& tile = program.tile(instruction);
  row["segment"] = tile.segment;
  row["shard_offset"] = tile.shard_offset;
  row["minishard"] = tile.minishard;
  row["microshard"] = tile.microshard;
}

Json instruction_row(const Program& program, InstructionId id) {
  const Instruction& instruction = program.instructions[id];
  Json row = {{"instruction", id},
              {"op", name(instruction.op)},
              {"phase", name(instruction.phase)},
              {"text", collectives::describe(program, id)}};
  const bool of_tile = instruction.op == Op::find_amax || !finds_shared_scale(program, instruction);
  if (instruction.op != Op::barrier && of_tile) add_tile(program, instruction, row);
  if (!collectives::is_transfer(instruction.op)) return row;
  const collectives::Message& message = program.messages[instruction.message];
  row["message"] = instruction.message;
  row["bytes"] = program.message_bytes(instruction.message);
  row["channel"] = program.channels[message.channel].name;
  row["peer_offset"] = program.channels[message.channel].offset;
  return row;
}

std::string Instructions::list() const {
  return without_interpreter([plan = plan_](const StopFlag& stop) {
    const Program& program = plan->collectives.front().candidates.front().program;
    Json rows = Json::array();
    for (InstructionId id = 0; id < program.instructions.size(); ++id) {
      stop.check();
      rows.push_back(instruction_row(program, id));
    }
    return rows.dump();
  });
}

/// Timeline of events on the simulated chips.
Json timeline_of(const plan::CollectivePlan& collective, const sim::TimeResult& time) {
  const Program& program = collective.program;
  const sim::Machine& machine = collective.simulated.machine();
  Json rows = Json::array();
  for (const sim::CoreEvent& event : time.trace.core) {
    const bool starts_up = event.work == sim::CoreWork::start_up;
    rows.push_back(
        {{"kind", "core"},
         {"rank", event.rank},
         {"chip", machine.chip_names[event.rank]},
         {"op", starts_up ? "start_up" : name(program.instructions[event.instruction].op)},
         {"instruction", starts_up ? Json(nullptr) : Json(event.instruction)},
         {"start_s", event.start_s},
         {"end_s", event.end_s}});
  }
  for (const sim::TransferEvent& event : time.trace.transfers)
    rows.push_back({{"kind", "transfer"},
                    {"rank", event.sender},
                    {"chip", machine.chip_names[event.sender]},
                    {"to_rank", event.receiver},
                    {"to_chip", machine.chip_names[event.receiver]},
                    {"message", event.message},
                    {"what", collectives::describe_cargo(program, event.message)},
                    {"bytes", program.message_bytes(event.message, event.sender)},
                    {"start_s", event.sent_s},
                    {"end_s", event.arrived_s}});
  return rows;
}

std::string Instructions::timeline() const {
  return without_interpreter([plan = plan_](const StopFlag& stop) {
    const plan::CollectivePlan& collective = plan->collectives.front().candidates.front();
    const sim::TimeResult time =
        sim::simulate(collective.program, collective.simulated.machine(), collective.costs,
                      {.traced = true, .engine = sim::Engine::direct, .watch = [&](std::uint64_t) {
                         stop.check();
                       }});
    return timeline_of(collective, time).dump();
  });
}

Instructions make_instructions(std::string config, const py::list& schedules) {
  request::Request request{std::move(config), {}};
  add_schedules(schedules, request);
  return plan_request(request, [](const request::Request& one) {
    return Instructions(keep_algorithms(one, request::make_plan(one, plan::RunProfile::traced)));
  });
}

}  // namespace

void bind_program(py::module_& core) {
  py::class_<Instructions>(core, "Instructions", "The instruction stream of a collective.")
      .def(py::init(&make_instructions), py::arg("config"), py::arg("schedules") = py::list(),
           "The only collective of a configuration, as JSON, with the engine \"direct\".")
      .def_property_readonly("ranks", &Instructions::ranks, "Number of ranks.")
      .def("list", &Instructions::list, "A row per instruction, as JSON.")
      .def("timeline", &Instructions::timeline, "A row per event, as JSON.");
}

}  // namespace equarx::python
