#include "tools/python/bindings/predict.hpp"

#include <memory>
#include <string>
#include <utility>

#include <pybind11/stl.h>

#include "experiments/predict/predictor.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;

/// A predictor that work which was abandoned after Ctrl-C may outlive.
class SharedPredictor {
 public:
  SharedPredictor(const std::string& machine, std::size_t cache_entries, unsigned threads,
                  bool errors, bool intervals)
      : predictor_(std::make_shared<const predict::Predictor>(
            predict::read_machine(machine),
            predict::PredictorOptions{cache_entries, threads, errors, intervals})) {}

  py::dict predict(std::string collective, std::uint64_t bytes, std::uint32_t ranks,
                   std::string dtype, std::string format, std::string algorithm,
                   std::string options) const {
    const predict::Query query{std::move(collective),
                               bytes,
                               ranks,
                               std::move(dtype),
                               std::move(format),
                               std::move(algorithm),
                               std::move(options)};
    auto prediction = predictor_->cached(query);
    if (!prediction)
      prediction = without_interpreter(
          [predictor = predictor_, query](const StopFlag&) { return predictor->predict(query); });
    return to_dict(*prediction);
  }

  std::uint32_t chips() const { return predictor_->chips(); }
  std::size_t cache_size() const { return predictor_->cache_size(); }

 private:
  static py::dict to_dict(const predict::Prediction& one) {
    py::dict dict;
    dict["time"] = one.time_s;
    dict["low"] = one.low_s;
    dict["high"] = one.high_s;
    dict["samples"] = one.samples;
    dict["nmse"] = one.nmse;
    dict["sqnr_db"] = one.sqnr_db;
    dict["ranks"] = one.ranks;
    dict["conversions"] = one.conversions;
    dict["encodings"] = one.encodings;
    dict["sums_in_fp32"] = one.sums_in_fp32;
    dict["deterministic"] = one.deterministic;
    dict["ranks_identical"] = one.ranks_identical;
    dict["calibrated"] = one.calibrated;
    dict["algorithm"] = one.algorithm;
    dict["protocol"] = one.protocol;
    return dict;
  }

  std::shared_ptr<const predict::Predictor> predictor_;
};

}  // namespace

void bind_predict(py::module_& core) {
  py::class_<SharedPredictor>(core, "Predictor", "Cached predictions on one machine.")
      .def(py::init<const std::string&, std::size_t, unsigned, bool, bool>(), py::arg("machine"),
           py::arg("cache_entries"), py::arg("threads"), py::arg("errors"), py::arg("intervals"))
      .def("predict", &SharedPredictor::predict, py::arg("collective"), py::arg("bytes"),
           py::arg("ranks"), py::arg("dtype"), py::arg("format"), py::arg("algorithm"),
           py::arg("options"), "The answer to a query, times in seconds.")
      .def_property_readonly("chips", &SharedPredictor::chips, "Chips of the machine.")
      .def_property_readonly("cache_size", &SharedPredictor::cache_size,
                             "Number of cached answers.");
}

}  // namespace equarx::python
