#include "tools/python/bindings/gemm.hpp"

#include <span>
#include <string>
#include <vector>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/os/threads.hpp"
#include "experiments/config/scheme_json.hpp"
#include "models/gemm/matmul.hpp"
#include "tools/python/bindings/memory.hpp"
#include "tools/python/bindings/tensors.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;

/// Scheme of a name, or of JSON text.
gemm::Scheme scheme_of(const std::string& text) {
  if (!text.starts_with('{')) return config::load_scheme(text, "/scheme");
  return config::read_scheme(input::parse_json(text), "/scheme");
}

std::vector<float> product_of(const gemm::Scheme& scheme, const tensors::MemoryTensor& x,
                              const tensors::MemoryTensor& w,
                              const tensors::MemoryTensor& importance, std::size_t inputs) {
  const std::vector<float> activations = all_values(x);
  const std::vector<float> weights = all_values(w);
  const std::vector<float> each = all_values(importance);
  return input::at("", [&] {
    return gemm::matmul(scheme, {{x.elements() / inputs, inputs}, activations},
                        {{w.elements() / inputs, inputs}, weights, each}, os::default_threads());
  });
}

py::bytes matmul(const std::string& scheme_text, const py::buffer& x, const std::string& x_type,
                 const py::buffer& w, const std::string& w_type, std::size_t inputs,
                 const py::buffer& importance) {
  const gemm::Scheme scheme = scheme_of(scheme_text);
  const Memory x_memory(x);
  const Memory w_memory(w);
  const Memory importance_memory(importance);
  const tensors::MemoryTensor x_tensor(file_type(x_type), x_memory.bytes());
  const tensors::MemoryTensor w_tensor(file_type(w_type), w_memory.bytes());
  const tensors::MemoryTensor each(tensors::FileType::fp32, importance_memory.bytes());
  const std::vector<float> product = without_interpreter(
      [=](const StopFlag&) { return product_of(scheme, x_tensor, w_tensor, each, inputs); },
      py::make_tuple(x, w, importance));
  return {reinterpret_cast<const char*>(product.data()), product.size() * sizeof(float)};
}

}  // namespace

void bind_gemm(py::module_& core) {
  core.def("matmul", &matmul, py::arg("scheme"), py::arg("x"), py::arg("x_type"), py::arg("w"),
           py::arg("w_type"), py::arg("inputs"), py::arg("importance"),
           "The product X W^T of two arrays in a scheme, as bytes of float32.");
}

}  // namespace equarx::python
