#include "tools/python/bindings/errors.hpp"

#include <exception>
#include <new>
#include <string>

#include <pybind11/pybind11.h>

#include "base/input/errors.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;

/// Sets an error of the package. Texts from users' files may not be UTF-8.
void raise(const char* name, const std::string& message, const std::string& pointer) {
  const auto text = [](const std::string& bytes) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<py::ssize_t>(bytes.size()), "backslashreplace"));
  };
  const py::object type = py::module_::import("equarx._errors").attr(name);
  const py::object error = type(text(message), text(pointer));
  PyErr_SetObject(type.ptr(), error.ptr());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as pybind11 calls it
void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const input::InputError& error) {
    raise("InputError", error.what(), error.pointer());
  } catch (const input::UserError& error) {
    raise("InputError", error.what(), "");
  } catch (const input::InvariantError& error) {
    raise("DefectError", error.what(), "");
  }
}

}  // namespace

void bind_errors() { py::register_local_exception_translator(&translate); }

}  // namespace equarx::python
