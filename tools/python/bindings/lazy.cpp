#include "tools/python/bindings/lazy.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <pybind11/stl.h>

#include "base/input/errors.hpp"
#include "models/lazy/workers.hpp"
#include "tools/python/bindings/memory.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;

std::span<const double> numbers(const Memory& memory) {
  const std::span<const std::byte> bytes = memory.bytes();
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}

lazy::Workers make_workers(std::uint32_t workers, std::size_t elements, double rate,
                           std::optional<std::uint32_t> bits, std::uint32_t memory, double weight,
                           double error_weight, std::uint32_t at_most) {
  return input::at("", [&] {
    return lazy::Workers({bits, rate, memory, weight, error_weight, at_most}, workers, elements);
  });
}

std::vector<bool> round_of(lazy::Workers& workers, const py::buffer& gradients,
                           const py::buffer& parameters, const py::buffer& sum) {
  const Memory own(gradients);
  const Memory at(parameters);
  const Memory result(sum, true);
  const std::vector<bool> sends =
      input::at("", [&] { return workers.round(numbers(own), numbers(at)); });
  const std::vector<double> total = workers.sum();
  std::ranges::copy(std::as_bytes(std::span(total)), result.writable_bytes().begin());
  return sends;
}

std::vector<double> quantized(const std::vector<double>& values, const std::vector<double>& known,
                              std::uint32_t bits) {
  std::vector<double> made(values.size());
  input::at("", [&] { return lazy::quantize(values, known, bits, made); });
  return made;
}

}  // namespace

void bind_lazy(py::module_& core) {
  py::class_<lazy::Workers>(core, "LazyWorkers", "Workers whose gradients are sent if they change.")
      .def(py::init(&make_workers), py::arg("workers"), py::arg("elements"), py::arg("rate"),
           py::arg("bits"), py::arg("memory"), py::arg("weight"), py::arg("error_weight"),
           py::arg("at_most"))
      .def_property_readonly("bits", &lazy::Workers::bits, "Bits of all messages so far.")
      .def("round", &round_of, py::arg("gradients"), py::arg("parameters"), py::arg("sum"),
           "The workers that send; writes the sum. Arrays of float64.");
  core.def("lazy_quantize", &quantized, py::arg("values"), py::arg("known"), py::arg("bits"),
           "LAQ's quantizer around the vector that was sent last.");
}

}  // namespace equarx::python
