// equarx._core: what the Python package takes from the program. Arguments and results are text, numbers and memory;
// arrays, dictionaries and their checks are the package's.
#include <pybind11/pybind11.h>

#include "experiments/output/provenance.hpp"
#include "tools/python/bindings/collective.hpp"
#include "tools/python/bindings/errors.hpp"
#include "tools/python/bindings/inspect.hpp"
#include "tools/python/bindings/program.hpp"
#include "tools/python/bindings/quantize.hpp"
#include "tools/python/bindings/run.hpp"
#include "tools/python/bindings/work.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, core) {
  using namespace equarx;
  core.doc() = "What the package equarx takes from the program.";
  core.def("version", &output::version, "Version of the program that this was built with.");
  core.def("finish_work", &python::finish_work, "Waits for work that Ctrl-C left behind.");
  python::bind_errors();
  python::bind_run(core);
  python::bind_quantize(core);
  python::bind_collective(core);
  python::bind_inspect(core);
  python::bind_program(core);
}
