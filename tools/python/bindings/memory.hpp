// Memory of arrays. The package makes it contiguous; this checks it.
#pragma once

#include <cstddef>
#include <span>

#include <pybind11/pybind11.h>

namespace equarx::python {

/// An array's memory, valid during the lifetime of this object.
class Memory {
 public:
  /// @throws BufferError if it is not contiguous or, for `writable`, if it is read-only.
  explicit Memory(const pybind11::buffer& array, bool writable = false);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::span<const std::byte> bytes() const;
  std::span<std::byte> writable_bytes() const;

 private:
  Py_buffer view_{};
};

}  // namespace equarx::python
