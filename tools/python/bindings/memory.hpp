// Memory of arrays. That it is contiguous is the package's to see to; here it is checked.
#pragma once

#include <cstddef>
#include <span>

#include <pybind11/pybind11.h>

namespace equarx::python {

/// An array's memory, which stays while this lives.
class Memory {
 public:
  /// @throws BufferError if it is not contiguous, or, for `writable`, if it may not be written.
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
