#include "tools/python/bindings/collective.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "experiments/config/json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/request/request.hpp"
#include "experiments/run/checks.hpp"
#include "models/values/tensor_types.hpp"
#include "models/values/value_executor.hpp"
#include "tools/python/bindings/memory.hpp"
#include "tools/python/bindings/metrics.hpp"
#include "tools/python/bindings/tensors.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using collectives::Partition;

/// What a collective is computed from, and where its result goes. Whoever uses it keeps the memory.
struct Task {
  values::TensorSource source;
  tensors::FileType type;
  std::span<std::byte> result;
  unsigned threads;
  std::uint64_t seed;  ///< of stochastic rounding
};

/// A collective of a plan that has only one way, to be computed on arrays.
class ArrayCollective {
 public:
  explicit ArrayCollective(plan::Plan plan)
      : plan_(std::make_shared<const plan::Plan>(std::move(plan))) {}

  std::uint32_t ranks() const { return program().ranks(); }
  std::uint64_t result_elements() const { return values::result_elements(program()); }
  std::string config() const { return to_json(plan_->config).dump(); }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> shard(std::uint32_t rank) const;
  py::dict run(const std::vector<py::buffer>& ranks, const std::string& dtype,
               const py::buffer& result, unsigned threads, std::uint64_t seed) const;

 private:
  const plan::CollectivePlan& collective() const {
    return plan_->collectives.front().candidates.front();
  }
  const collectives::Program& program() const { return collective().program; }

  std::shared_ptr<const plan::Plan> plan_;
};

ArrayCollective make_collective(std::string config) {
  const request::Request request{std::move(config), {}};
  return without_interpreter(
      [request](const StopFlag&) { return ArrayCollective(request::make_plan(request)); });
}

/// Where the shard of a rank lies in the tensor: a range of every segment, without padding.
std::vector<std::pair<std::uint64_t, std::uint64_t>> ArrayCollective::shard(
    std::uint32_t rank) const {
  const Partition& partition = program().partition;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    const std::uint64_t begin =
        partition.segment_begin(segment) + partition.chunk_begin(segment, 0, rank);
    const std::uint64_t end =
        std::min(begin + partition.chunk_elements(segment), partition.elements());
    if (begin < end) ranges.emplace_back(begin, end);
  }
  return ranges;
}

values::ValueResult compute(const plan::CollectivePlan& collective, const Task& task,
                            const StopFlag& stop) {
  values::ResultTensor result(values::element_format(task.type), task.result);
  const values::ValueResult values = values::execute(collective.program, task.source,
                                                     {.threads = task.threads,
                                                      .result = &result,
                                                      .rounding_seed = task.seed,
                                                      .watch = [&](double) { stop.check(); }});
  run::check_values(collective, values, true);
  return values;
}

py::dict errors_of(const values::ValueResult& values) {
  py::dict dict = to_dict(values.against_exact);
  dict["clipped_fraction"] = values.clipped_fraction();
  dict["flushed_fraction"] = values.flushed_fraction();
  return dict;
}

py::dict ArrayCollective::run(const std::vector<py::buffer>& ranks, const std::string& dtype,
                              const py::buffer& result, unsigned threads,
                              std::uint64_t seed) const {
  const tensors::FileType type = file_type(dtype);
  const Memory out(result, true);
  std::vector<std::unique_ptr<Memory>> in;
  std::vector<tensors::MemoryTensor> tensors;
  for (const py::buffer& rank : ranks)
    tensors.emplace_back(type, in.emplace_back(std::make_unique<Memory>(rank))->bytes());
  const Task task{
      {std::move(tensors), program().partition.elements(), values::element_format(type)},
      type,
      out.writable_bytes(),
      threads,
      seed};
  const auto work = [plan = plan_, task](const StopFlag& stop) {
    return compute(plan->collectives.front().candidates.front(), task, stop);
  };
  return errors_of(without_interpreter(work, py::make_tuple(ranks, result)));
}

}  // namespace

void bind_collective(py::module_& core) {
  py::class_<ArrayCollective>(core, "Collective", "A collective, to be computed on arrays.")
      .def(py::init(&make_collective), py::arg("config"),
           "The only collective of a configuration, as JSON, whose algorithm is not auto.")
      .def_property_readonly("ranks", &ArrayCollective::ranks, "Number of ranks.")
      .def_property_readonly("result_elements", &ArrayCollective::result_elements,
                             "Elements of the result; of an AllToAll, of all ranks together.")
      .def_property_readonly("config", &ArrayCollective::config,
                             "The configuration with every default filled in, as JSON.")
      .def("shard", &ArrayCollective::shard, py::arg("rank"),
           "Where a rank's shard lies in the tensor: pairs of begin and end, in elements.")
      .def("run", &ArrayCollective::run, py::arg("ranks"), py::arg("dtype"), py::arg("result"),
           py::arg("threads"), py::arg("seed"),
           "Fills result from one array for each rank, all of dtype, and returns the errors.");
}

}  // namespace equarx::python
