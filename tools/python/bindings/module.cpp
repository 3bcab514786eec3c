// equarx._core: the program's interface for the Python package. Arguments and results are text,
// numbers and memory; arrays, dictionaries and their checks belong to the package.
#include <pybind11/pybind11.h>

#include "base/output/provenance.hpp"
#include "tools/python/bindings/collective.hpp"
#include "tools/python/bindings/errors.hpp"
#include "tools/python/bindings/gemm.hpp"
#include "tools/python/bindings/inspect.hpp"
#include "tools/python/bindings/lazy.hpp"
#include "tools/python/bindings/predict.hpp"
#include "tools/python/bindings/program.hpp"
#include "tools/python/bindings/quantize.hpp"
#include "tools/python/bindings/run.hpp"
#include "tools/python/bindings/schedule.hpp"
#include "tools/python/bindings/stored.hpp"
#include "tools/python/bindings/work.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, core) {
  using namespace equarx;
  core.doc() = "The program's interface for the Python package equarx.";
  core.def("version", &output::version, "Version of the program that this module was built with.");
  core.def("finish_work", &python::finish_work, "Waits for work abandoned after Ctrl-C.");
  python::bind_errors();
  python::bind_run(core);
  python::bind_quantize(core);
  python::bind_stored(core);
  python::bind_gemm(core);
  python::bind_lazy(core);
  python::bind_schedule(core);
  python::bind_collective(core);
  python::bind_inspect(core);
  python::bind_predict(core);
  python::bind_program(core);
}
