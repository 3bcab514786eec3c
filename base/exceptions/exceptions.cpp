#include "base/exceptions/exceptions.hpp"

#include <utility>

#include "base/os/printable.hpp"

namespace equarx::exceptions {

Error::Error(std::string place, std::string message)
    : std::runtime_error(os::printable(place.empty() ? message : place + ": " + message)),
      place_(std::move(place)),
      message_(std::move(message)) {}

InvariantError::InvariantError(std::string message) : Error("", std::move(message)) {}

}  // namespace equarx::exceptions
