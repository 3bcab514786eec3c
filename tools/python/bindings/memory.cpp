#include "tools/python/bindings/memory.hpp"

namespace equarx::python {

namespace py = pybind11;

Memory::Memory(const py::buffer& array, bool writable) {
  const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array.ptr(), &view_, flags) != 0) throw py::error_already_set();
}

Memory::~Memory() { PyBuffer_Release(&view_); }

std::span<const std::byte> Memory::bytes() const { return writable_bytes(); }

std::span<std::byte> Memory::writable_bytes() const {
  return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
}

}  // namespace equarx::python
