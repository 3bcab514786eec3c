#include "tools/python/bindings/run.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "experiments/request/request.hpp"
#include "tools/python/bindings/schedule.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using Overrides = std::vector<std::pair<std::string, std::string>>;

/// An experiment that is ready to run.
class Planned {
 public:
  Planned(request::Request request, request::AnyPlan plan)
      : request_(std::make_shared<const request::Request>(std::move(request))),
        plan_(std::make_shared<const request::AnyPlan>(std::move(plan))) {}

  bool needs_simgrid() const { return request::needs_simgrid(*plan_); }

  /// Result of a run: JSON, a table, paths of tensors.
  std::tuple<std::string, std::string, std::string> run() const {
    const auto work = [request = request_, plan = plan_](const StopFlag& stop) {
      return request::answer(*plan, *request, [&](double) { stop.check(); });
    };
    request::Answer answer = without_interpreter(work);
    return {std::move(answer.json), std::move(answer.table), std::move(answer.tensors)};
  }

 private:
  std::shared_ptr<const request::Request> request_;
  std::shared_ptr<const request::AnyPlan> plan_;
};

Planned make_planned(std::string config, const Overrides& overrides, bool links, bool uncertainty,
                     bool sensitivity, std::string tensors, bool inputs,
                     const py::list& schedules) {
  request::Request request{std::move(config),  {},    links, uncertainty, sensitivity,
                           std::move(tensors), inputs};
  for (const auto& [pointer, text] : overrides) request.overrides.push_back({pointer, text});
  add_schedules(schedules, request);
  return plan_request(request, [](const request::Request& one) {
    return Planned(one, request::make_any_plan(one));
  });
}

std::string resolve(std::string config, const Overrides& overrides, const py::list& schedules) {
  request::Request request{std::move(config), {}};
  add_schedules(schedules, request);
  for (const auto& [pointer, text] : overrides) request.overrides.push_back({pointer, text});
  return request::resolve(request);
}

}  // namespace

void bind_run(py::module_& core) {
  py::class_<Planned>(core, "Planned", "An experiment that is ready to run.")
      .def_property_readonly(
          "needs_simgrid", &Planned::needs_simgrid,
          "True if some of it needs SimGrid, which does not run in this process.")
      .def("run", &Planned::run,
           "Result of a run: JSON, a table, and the paths of tensors as JSON.");
  core.def("plan", &make_planned, py::arg("config"), py::arg("overrides"), py::arg("links"),
           py::arg("uncertainty"), py::arg("sensitivity"), py::arg("tensors"), py::arg("inputs"),
           py::arg("schedules") = py::list(),
           "Plans an experiment given as JSON text; overrides are pairs of pointer and text.");
  core.def("resolve", &resolve, py::arg("config"), py::arg("overrides"),
           py::arg("schedules") = py::list(),
           "A configuration with every default filled in, as JSON.");
}

}  // namespace equarx::python
