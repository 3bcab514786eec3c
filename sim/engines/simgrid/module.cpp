#include "sim/engines/simgrid/module.hpp"

#include <string>

#include <dlfcn.h>

namespace equarx::sim {
namespace {

const SimgridModule& load() {
  // By file name: found on the run path of the program, both in the build tree and installed.
  void* const library = dlopen(EQUARX_SIMGRID_MODULE, RTLD_NOW | RTLD_LOCAL);
  const void* const module = library == nullptr ? nullptr : dlsym(library, kSimgridModuleSymbol);
  if (module != nullptr) return *static_cast<const SimgridModule*>(module);
  const char* const reason = dlerror();
  throw std::runtime_error(std::string("cannot load SimGrid: ") +
                           (reason == nullptr ? "its module is incompatible" : reason) +
                           "; reinstall the program, or set \"engine\": \"direct\"");
}

}  // namespace

const SimgridModule& load_simgrid() {
  static const SimgridModule& module = load();
  return module;
}

}  // namespace equarx::sim
