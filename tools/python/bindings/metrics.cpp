#include "tools/python/bindings/metrics.hpp"

namespace equarx::python {

pybind11::dict to_dict(const numerics::ErrorMetrics& errors) {
  pybind11::dict dict;
  dict["mse"] = errors.mse;
  dict["nmse"] = errors.nmse;
  dict["sqnr_db"] = errors.sqnr_db;
  dict["max_abs_error"] = errors.max_abs_error;
  dict["mean_signed_error"] = errors.mean_signed_error;
  dict["cosine_similarity"] = errors.cosine_similarity;
  dict["nonfinite_elements"] = errors.nonfinite;
  return dict;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace equarx::python
