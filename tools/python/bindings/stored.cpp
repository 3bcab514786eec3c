#include "tools/python/bindings/stored.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/os/threads.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/inspect/dequantize.hpp"
#include "models/checkpoints/layout_file.hpp"
#include "models/stored/feedback.hpp"
#include "models/stored/packed_codec.hpp"
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
  stored::StoredFormat format;
  stored::Encoded encoded = {};
  std::vector<float> decoded = {};
  numerics::ErrorMetrics error = {};
  std::optional<double> output_error = {};
};

/// Arrays that belong to a tensor; empty: none.
struct Arrays {
  tensors::MemoryTensor importance;
  tensors::MemoryTensor inputs;
  tensors::MemoryTensor hessian;
};

std::optional<stored::LayerInputs> layer_inputs(std::size_t columns, const Arrays& arrays,
                                                unsigned threads) {
  if (arrays.inputs.elements() > 0)
    return input::at("/inputs", [&] {
      return stored::inputs_of_tokens(columns, all_values(arrays.inputs), threads);
    });
  if (arrays.hessian.elements() > 0)
    return input::at(
        "/hessian", [&] { return stored::inputs_of_hessian(columns, all_values(arrays.hessian)); });
  return std::nullopt;
}

Outcome outcome_of(const stored::StoredFormat& format, const stored::Shape& shape,
                   const std::vector<float>& values, const Arrays& arrays) {
  const std::vector<float> importance = all_values(arrays.importance);
  const unsigned threads = os::default_threads();
  const std::optional<stored::LayerInputs> inputs = layer_inputs(shape.columns, arrays, threads);
  Outcome outcome{.format = format};
  input::at("/format", [&] {
    if (inputs) outcome.format = stored::adapted(format, shape, values, *inputs, threads);
    outcome.encoded =
        inputs ? stored::encode(outcome.format, shape, values, *inputs, importance, threads)
               : stored::encode(outcome.format, shape, values, importance, threads);
  });
  outcome.decoded = stored::decode(outcome.format, outcome.encoded, threads);
  numerics::ErrorAccumulator error;
  error.add(outcome.decoded, std::span<const float>(values));
  outcome.error = error.metrics();
  if (inputs)
    outcome.output_error = stored::output_error(*inputs, values, outcome.decoded, threads);
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
  result["widths"] = bits.widths;
  return result;
}

checkpoints::Layout layout_of(const std::string& name) {
  const std::optional<checkpoints::Layout> layout = checkpoints::layout_named(name);
  if (!layout)
    throw input::InputError("layout",
                            fmt::format("'{}' is no layout of stored tensors; use {}", name,
                                        fmt::join(checkpoints::kLayoutNames, ", ")));
  return *layout;
}

/// File of a quantized weight; an empty layout writes none.
struct Output {
  std::string layout;
  std::string file;
  std::string name;
};

void write(const Output& output, const stored::StoredFormat& format,
           const stored::Encoded& encoded) {
  if (output.layout.empty()) return;
  input::at("layout", [&] {
    checkpoints::write_layout(output.file, layout_of(output.layout), output.name, format,
                              stored::packed(format, encoded));
  });
}

py::tuple dequantize(const std::string& file, const std::string& layout, const std::string& name) {
  const auto read = without_interpreter([=](const StopFlag&) {
    std::optional<checkpoints::Layout> chosen;
    if (!layout.empty()) chosen = layout_of(layout);
    std::optional<std::string_view> weight;
    if (!name.empty()) weight = name;
    return inspect::dequantize(file, chosen, weight, std::nullopt, std::nullopt);
  });
  const stored::Shape& shape = read.tensor.stored.packed.shape;
  return py::make_tuple(shape.rows, shape.columns, bytes_of(read.values));
}

py::dict quantize_stored(const std::string& json, std::size_t rows, const py::buffer& values,
                         const std::string& dtype, const py::buffer& importance,
                         const py::buffer& inputs, const py::buffer& hessian,
                         const std::string& layout, const std::string& file,
                         const std::string& name) {
  const Output output{layout, file, name};
  const stored::StoredFormat format = json.starts_with('{')
                                          ? config::read_stored_format(input::parse_json(json))
                                          : config::load_stored_format(json, "/format");
  const Memory in(values);
  const Memory weights(importance);
  const Memory tokens(inputs);
  const Memory moments(hessian);
  const tensors::MemoryTensor tensor(file_type(dtype), in.bytes());
  const Arrays arrays{{tensors::FileType::fp32, weights.bytes()},
                      {tensors::FileType::fp32, tokens.bytes()},
                      {tensors::FileType::fp32, moments.bytes()}};
  const stored::Shape shape{rows, tensor.elements() / rows};
  const Outcome outcome = without_interpreter(
      [=](const StopFlag&) {
        if (!output.layout.empty())
          input::at("layout",
                    [&] { checkpoints::check_layout(layout_of(output.layout), format, shape); });
        Outcome result = outcome_of(format, shape, all_values(tensor), arrays);
        write(output, result.format, result.encoded);
        return result;
      },
      py::make_tuple(values, importance, inputs, hessian));
  py::dict result = to_dict(outcome.error);
  result["bits"] = bits_dict(stored::stored_bits(outcome.format, shape));
  result["output_error"] = outcome.output_error;
  result["widths"] = outcome.format.widths.bits;
  result["column_factors"] = outcome.format.before.column_factors;
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
           py::arg("values"), py::arg("dtype"), py::arg("importance"), py::arg("inputs"),
           py::arg("hessian"), py::arg("layout"), py::arg("file"), py::arg("name"),
           "Errors, bits, codes and decoded values of an array in a stored format.");
  core.def("is_stored_format", &config::is_stored_format, py::arg("name"),
           "True for the path or the name of a stored format.");
  core.def("dequantize", &dequantize, py::arg("file"), py::arg("layout"), py::arg("name"),
           "Rows, columns and decoded values of a quantized weight.");
}

}  // namespace equarx::python
