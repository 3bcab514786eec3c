// Chakra's traces as bytes of a file: messages of protobuf, each behind its length.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "models/chakra/trace.hpp"

namespace equarx::chakra {

/// Bytes that are no trace. The message is one line.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the bytes of a file. Nodes of kinds that the schema has since are `invalid`: who waits for them waits for what
/// they wait for. @throws FileError for what is no trace, and sizes or times that are no numbers of 0 or more
Trace read_trace(std::string_view bytes);

/// Writes them, so that read_trace() reads the same; times as whole microseconds, 1 at least where there are any.
std::string write_trace(const Trace& trace);

}  // namespace equarx::chakra
