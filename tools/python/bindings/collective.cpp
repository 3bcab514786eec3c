#include "tools/python/bindings/collective.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/request/request.hpp"
#include "experiments/run/checks.hpp"
#include "models/numerics/codec/automatic_mu.hpp"
#include "models/numerics/codec/own_codec.hpp"
#include "models/values/tensor_types.hpp"
#include "models/values/value_executor.hpp"
#include "tools/python/bindings/memory.hpp"
#include "tools/python/bindings/metrics.hpp"
#include "tools/python/bindings/schedule.hpp"
#include "tools/python/bindings/tensors.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using collectives::Partition;

/// Inputs of a collective, and the memory of its result, which the caller keeps alive.
struct Task {
  values::TensorSource source;
  tensors::FileType type;
  std::span<std::byte> result;
  unsigned threads;
  std::uint64_t seed;                                ///< of stochastic rounding
  values::Feedback feedback;                         ///< by rank; empty without error feedback
  std::shared_ptr<const numerics::RuleCodec> codec;  ///< null for formats of the program
  bool in_place = false;                             ///< the result overwrites inputs
};

/// A collective whose plan has a single candidate, to be computed on arrays.
class ArrayCollective {
 public:
  explicit ArrayCollective(std::shared_ptr<const plan::Plan> plan) : plan_(std::move(plan)) {}

  std::uint32_t ranks() const { return program().ranks(); }
  std::uint64_t result_elements() const { return values::result_elements(program()); }
  std::string config() const { return to_json(plan_->config).dump(); }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> shard(std::uint32_t rank) const;
  bool can_feed_back() const;
  bool adds_residual() const {
    return program().arithmetic.residual != collectives::Residual::none;
  }
  py::dict run(const std::vector<py::buffer>& ranks, const std::string& dtype,
               const py::buffer& result, unsigned threads, std::uint64_t seed,
               const std::optional<py::buffer>& feedback,
               const std::optional<py::function>& round_trip) const;

 private:
  const plan::CollectivePlan& collective() const {
    return plan_->collectives.front().candidates.front();
  }
  const collectives::Program& program() const { return collective().program; }

  std::shared_ptr<const plan::Plan> plan_;
};

/// Refuses sums with a residual, which is one more tensor. @throws InputError
ArrayCollective without_residual(ArrayCollective made) {
  if (made.adds_residual())
    throw input::InputError("/collectives/0/arithmetic",
                            "adds a residual, which is a tensor of its own; leave it out here, or "
                            "use equarx.contract(..., residual=array)");
  return made;
}

ArrayCollective make_collective(std::string config, const py::list& schedules) {
  request::Request request{std::move(config), {}};
  add_schedules(schedules, request);
  return plan_request(request, [](const request::Request& one) {
    return without_residual(ArrayCollective(keep_algorithms(one, request::make_plan(one))));
  });
}

/// Position of a rank's shard in the tensor: a range of every segment, without padding.
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

/// Errors of a collective, and the inputs with NaN or Inf.
struct Computed {
  values::ValueResult values;
  std::vector<values::NonfiniteInput> nonfinite_inputs;
};

Computed compute(const plan::CollectivePlan& collective, const Task& task, const StopFlag& stop) {
  Computed computed;
  const auto find_nonfinite = [&] {
    return values::nonfinite_inputs(task.source, collective.program.ranks());
  };
  if (task.in_place) computed.nonfinite_inputs = find_nonfinite();  // before they are overwritten
  values::ResultTensor result(values::element_format(task.type), task.result);
  computed.values = values::execute(collective.program, task.source,
                                    {.threads = task.threads,
                                     .result = &result,
                                     .rounding_seed = task.seed,
                                     .feedback = task.feedback.empty() ? nullptr : &task.feedback,
                                     .own_codec = task.codec,
                                     .watch = [&](double) { stop.check(); }});
  run::check_values(collective, computed.values, true);
  if (!task.in_place && computed.values.against_exact.nonfinite_exact > 0)
    computed.nonfinite_inputs = find_nonfinite();
  return computed;
}

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) {
  const std::less<const std::byte*> before;
  return before(one.data(), other.data() + other.size()) &&
         before(other.data(), one.data() + one.size());
}

py::dict errors_of(const Computed& computed) {
  const values::ValueResult& values = computed.values;
  py::dict dict = to_dict(values.against_exact);
  dict["clipped_fraction"] = values.clipped_fraction();
  dict["flushed_fraction"] = values.flushed_fraction();
  dict["at_largest_fraction"] = values.at_largest_fraction();
  dict["warnings"] = values::texts_of(computed.nonfinite_inputs);
  return dict;
}

/// Splits a float32 array with a leading axis of ranks into one span per rank.
values::Feedback by_rank(std::span<std::byte> bytes, std::size_t ranks) {
  const std::span<float> all(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  values::Feedback feedback;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    feedback.push_back(all.subspan(rank * (all.size() / ranks), all.size() / ranks));
  return feedback;
}

/// A codec whose payloads a function of Python decodes. May be destroyed without the interpreter's
/// lock.
std::shared_ptr<const numerics::RuleCodec> codec_of(const py::function& round_trip) {
  const auto release = [](py::function* function) {
    const py::gil_scoped_acquire lock;
    delete function;
  };
  const std::shared_ptr<py::function> function(new py::function(round_trip), release);
  return numerics::make_own_codec(
      [function](std::span<const float> values, std::span<float> decoded) {
        const py::gil_scoped_acquire lock;
        const auto size = static_cast<py::ssize_t>(values.size());
        const py::ssize_t stride = sizeof(float);
        (*function)(py::memoryview::from_buffer(values.data(), {size}, {stride}),
                    py::memoryview::from_buffer(decoded.data(), {size}, {stride}));
      });
}

/// True if every quantization is made by a single rank.
bool ArrayCollective::can_feed_back() const {
  const config::Algorithm algorithm = collective().config.algorithm;
  return algorithm->summation != collectives::Summation::in_pairs || algorithm->has_two_phases;
}

py::dict ArrayCollective::run(const std::vector<py::buffer>& ranks, const std::string& dtype,
                              const py::buffer& result, unsigned threads, std::uint64_t seed,
                              const std::optional<py::buffer>& feedback,
                              const std::optional<py::function>& round_trip) const {
  const tensors::FileType type = file_type(dtype);
  const Memory out(result, true);
  std::vector<std::unique_ptr<Memory>> in;
  std::vector<tensors::MemoryTensor> tensors;
  bool in_place = false;
  for (const py::buffer& rank : ranks) {
    const std::span<const std::byte> bytes =
        in.emplace_back(std::make_unique<Memory>(rank))->bytes();
    tensors.emplace_back(type, bytes);
    in_place = in_place || overlap(bytes, out.bytes());
  }
  std::optional<Memory> lost;
  if (feedback) lost.emplace(*feedback, true);
  const Task task{
      {std::move(tensors), program().partition.elements(), values::element_format(type)},
      type,
      out.writable_bytes(),
      threads,
      seed,
      lost ? by_rank(lost->writable_bytes(), ranks.size()) : values::Feedback{},
      round_trip ? codec_of(*round_trip) : nullptr,
      in_place};
  const auto work = [plan = plan_, task](const StopFlag& stop) {
    return compute(plan->collectives.front().candidates.front(), task, stop);
  };
  return errors_of(without_interpreter(work, py::make_tuple(ranks, result, feedback)));
}

}  // namespace

void bind_collective(py::module_& core) {
  py::class_<numerics::AutomaticMu>(core, "AutomaticMu")
      .def(py::init<double>(), py::arg("mu"))
      .def_property_readonly("value", &numerics::AutomaticMu::value)
      .def("update", &numerics::AutomaticMu::update, py::arg("share"));
  py::class_<ArrayCollective>(core, "Collective", "A collective, to be computed on arrays.")
      .def(py::init(&make_collective), py::arg("config"), py::arg("schedules") = py::list(),
           "The only collective of a configuration, as JSON, whose algorithm is not auto.")
      .def_property_readonly("ranks", &ArrayCollective::ranks, "Number of ranks.")
      .def_property_readonly("result_elements", &ArrayCollective::result_elements,
                             "Elements of the result; for an AllToAll, of all ranks together.")
      .def_property_readonly("config", &ArrayCollective::config,
                             "The configuration with every default filled in, as JSON.")
      .def("shard", &ArrayCollective::shard, py::arg("rank"),
           "Position of a rank's shard in the tensor: pairs of begin and end, in elements.")
      .def_property_readonly("can_feed_back", &ArrayCollective::can_feed_back,
                             "True if every quantization is made by a single rank.")
      .def(
          "run", &ArrayCollective::run, py::arg("ranks"), py::arg("dtype"), py::arg("result"),
          py::arg("threads"), py::arg("seed"), py::arg("feedback") = py::none(),
          py::arg("round_trip") = py::none(),
          "Fills result from one array per rank, all of dtype, and returns the errors. round_trip: "
          "of an own format, writes what is decoded of values, both memoryviews of float32 that "
          "are valid during the call.");
}

}  // namespace equarx::python
