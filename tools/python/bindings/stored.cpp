#include "tools/python/bindings/stored.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/stored_json.hpp"
#include "models/stored/stored_codec.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "tools/python/bindings/memory.hpp"
#include "tools/python/bindings/metrics.hpp"
#include "tools/python/bindings/tensors.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;

/// A tensor before and after.
struct Outcome {
  stored::Encoded encoded;
  std::vector<float> decoded;
  numerics::ErrorMetrics error;
  stored::StoredBits bits;
};

Outcome outcome_of(const stored::StoredFormat& format, const stored::Shape& shape,
                   const std::vector<float>& values, const std::vector<float>& importance) {
  Outcome outcome;
  outcome.encoded =
      input::at("/format", [&] { return stored::encode(format, shape, values, importance); });
  outcome.decoded = stored::decode(format, outcome.encoded);
  numerics::ErrorAccumulator error;
  error.add(outcome.decoded, std::span<const float>(values));
  outcome.error = error.metrics();
  outcome.bits = stored::stored_bits(format, shape);
  return outcome;
}

template <typename T>
py::bytes bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

py::dict bits_dict(const stored::StoredBits& bits) {
  py::dict result;
  result["codes"] = bits.codes;
  result["scales"] = bits.scales;
  result["zero_points"] = bits.zero_points;
  result["tables"] = bits.tables;
  result["apart"] = bits.apart;
  result["before"] = bits.before;
  return result;
}

py::dict quantize_stored(const std::string& json, std::size_t rows, const py::buffer& values,
                         const std::string& dtype, const py::buffer& importance) {
  const stored::StoredFormat format = config::read_stored_format(input::parse_json(json));
  const Memory in(values);
  const Memory weights(importance);
  const tensors::MemoryTensor tensor(file_type(dtype), in.bytes());
  const tensors::MemoryTensor weight(tensors::FileType::fp32, weights.bytes());
  const stored::Shape shape{rows, tensor.elements() / rows};
  const Outcome outcome = without_interpreter(
      [=](const StopFlag&) {
        return outcome_of(format, shape, all_values(tensor), all_values(weight));
      },
      py::make_tuple(values, importance));
  py::dict result = to_dict(outcome.error);
  result["bits"] = bits_dict(outcome.bits);
  result["apart"] = outcome.encoded.apart.size();
  result["codes"] = bytes_of(outcome.encoded.codes);
  result["scales"] = bytes_of(outcome.encoded.scales);
  result["zero_points"] = bytes_of(outcome.encoded.zero_points);
  result["tables"] = bytes_of(outcome.encoded.tables);
  result["decoded"] = bytes_of(outcome.decoded);
  return result;
}

}  // namespace

void bind_stored(py::module_& core) {
  core.def("quantize_stored", &quantize_stored, py::arg("format"), py::arg("rows"),
           py::arg("values"), py::arg("dtype"), py::arg("importance"),
           "Errors, bits, codes and decoded values of an array in a stored format.");
}

}  // namespace equarx::python
