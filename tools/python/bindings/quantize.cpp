#include "tools/python/bindings/quantize.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/inspect/quantizer.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "tools/python/bindings/memory.hpp"
#include "tools/python/bindings/metrics.hpp"
#include "tools/python/bindings/tensors.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using inspect::PieceCut;
using inspect::QuantizeOptions;

/// Offsets of a piece in the elements, codes and scales of the whole tensor.
struct Extent {
  std::uint64_t elements = 0;
  std::size_t codes = 0;   ///< bytes
  std::size_t scales = 0;  ///< count

  Extent operator+(const Extent& other) const {
    return {elements + other.elements, codes + other.codes, scales + other.scales};
  }
};

/// A quantizer for arrays of one size.
class ArrayQuantizer {
 public:
  ArrayQuantizer(const std::string& options, std::uint64_t elements)
      : options_(inspect::read_quantize_options(input::parse_json(options))),
        codec_(options_.format),
        cut_(elements, options_) {
    if (elements == 0) return;
    const std::uint64_t last = cut_.pieces() - 1;
    const Extent full = extent(cut_.size);
    whole_ = Extent{last * full.elements, last * full.codes, last * full.scales} +
             extent(cut_.size_of(last));
  }

  std::string element() const { return std::string(name(options_.format.element)); }
  bool scaled() const { return options_.format.scaled; }
  std::size_t block() const { return options_.format.block; }
  std::uint64_t minishard() const { return cut_.size; }
  std::size_t code_bytes() const { return whole_.codes; }
  std::size_t scales() const { return whole_.scales; }

  py::dict quantize(const py::buffer& values, const std::string& dtype, const py::buffer& codes,
                    const py::buffer& scales) const;
  void dequantize(const py::buffer& codes, const py::buffer& scales,
                  const py::buffer& values) const;

 private:
  Extent extent(std::uint64_t elements) const {
    return {elements, numerics::payload_bytes(options_.format, elements),
            numerics::scale_count(options_.format, elements)};
  }

  QuantizeOptions options_;
  numerics::BlockCodec codec_;
  PieceCut cut_;
  Extent whole_;
};

std::span<float> floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

template <typename T>
void append(std::span<const T> piece, std::span<T>& rest) {
  std::ranges::copy(piece, rest.begin());
  rest = rest.subspan(piece.size());
}

py::dict ArrayQuantizer::quantize(const py::buffer& values, const std::string& dtype,
                                  const py::buffer& codes, const py::buffer& scales) const {
  const Memory in(values);
  const Memory codes_out(codes, true);
  const Memory scales_out(scales, true);
  const tensors::MemoryTensor tensor(file_type(dtype), in.bytes());
  const auto work = [tensor, options = options_, left_codes = codes_out.writable_bytes(),
                     left_scales =
                         floats(scales_out.writable_bytes())](const StopFlag& stop) mutable {
    const auto read = [&](std::uint64_t first, std::span<float> into) { tensor.read(first, into); };
    inspect::Quantizer quantizer({tensor.elements(), read}, options);
    while (!quantizer.at_end()) {
      stop.check();
      const inspect::Piece& piece = quantizer.advance();
      append(std::span<const std::byte>(piece.payload), left_codes);
      append(std::span<const float>(piece.scales), left_scales);
    }
    return quantizer.report();
  };
  const inspect::QuantizeReport report =
      without_interpreter(work, py::make_tuple(values, codes, scales));
  py::dict result = to_dict(report.error);
  result["clipped_fraction"] = share(report.counts.clipped, report.counts.elements);
  result["flushed_fraction"] = share(report.counts.flushed, report.counts.elements);
  result["non_finite"] = report.counts.non_finite;
  result["bits_per_element"] = report.bits_per_element;
  return result;
}

void ArrayQuantizer::dequantize(const py::buffer& codes, const py::buffer& scales,
                                const py::buffer& values) const {
  const Memory codes_in(codes);
  const Memory scales_in(scales);
  const Memory out(values, true);
  const auto work = [codec = codec_, cut = cut_, self = *this, left_codes = codes_in.bytes(),
                     left_scales = std::span<const float>(floats(scales_in.writable_bytes())),
                     left = floats(out.writable_bytes())](const StopFlag& stop) mutable {
    for (std::uint64_t piece = 0; piece < cut.pieces(); ++piece) {
      stop.check();
      const Extent size = self.extent(cut.size_of(piece));
      codec.dequantize(left_codes.first(size.codes), 0, left_scales.first(size.scales),
                       left.first(size.elements));
      left_codes = left_codes.subspan(size.codes);
      left_scales = left_scales.subspan(size.scales);
      left = left.subspan(size.elements);
    }
    return true;
  };
  without_interpreter(work, py::make_tuple(codes, scales, values));
}

}  // namespace

void bind_quantize(py::module_& core) {
  py::class_<ArrayQuantizer>(core, "Quantizer", "A quantizer for arrays of one size.")
      .def(py::init<const std::string&, std::uint64_t>(), py::arg("options"), py::arg("elements"),
           "Options in the form of a configuration, as JSON.")
      .def_property_readonly("element", &ArrayQuantizer::element, "Type of the codes.")
      .def_property_readonly("scaled", &ArrayQuantizer::scaled, "True if the format has scales.")
      .def_property_readonly("block", &ArrayQuantizer::block,
                             "Elements per scale of the contiguous layout; 0 for the strided one.")
      .def_property_readonly("minishard", &ArrayQuantizer::minishard,
                             "Elements that are quantized together.")
      .def_property_readonly("code_bytes", &ArrayQuantizer::code_bytes, "Bytes of all codes.")
      .def_property_readonly("scales", &ArrayQuantizer::scales, "Number of all scales.")
      .def("quantize", &ArrayQuantizer::quantize, py::arg("values"), py::arg("dtype"),
           py::arg("codes"), py::arg("scales"), "Fills codes and scales, and returns the errors.")
      .def("dequantize", &ArrayQuantizer::dequantize, py::arg("codes"), py::arg("scales"),
           py::arg("values"), "Fills values, FP32, from codes and scales.");
}

}  // namespace equarx::python
