// What the computer has too little of.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace equarx::os {

/// In one line what there was too little of and what to do, if that is what the error says: memory, processes and
/// threads, or open files.
std::optional<std::string> shortage(const std::exception& error);

}  // namespace equarx::os
