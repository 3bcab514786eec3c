#include "sim/simgrid/module.hpp"

#include <string>

#include <dlfcn.h>

namespace equarx::sim {
namespace {

const SimgridModule& load() {
  // By name alone: the program's run path leads to it, in the build tree and where it is installed.
  void* const library = dlopen(EQUARX_SIMGRID_MODULE, RTLD_NOW | RTLD_LOCAL);
  const void* const module = library == nullptr ? nullptr : dlsym(library, kSimgridModuleSymbol);
  if (module != nullptr) return *static_cast<const SimgridModule*>(module);
  const char* const reason = dlerror();
  throw std::runtime_error(std::string("SimGrid cannot be loaded: ") +
                           (reason == nullptr ? "its module is another one" : reason) +
                           "; install the program as a whole, or set \"engine\": \"direct\"");
}

}  // namespace

const SimgridModule& load_simgrid() {
  static const SimgridModule& module = load();
  return module;
}

}  // namespace equarx::sim
