// Places of instructions in the user's program.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Source locations of a module: source_file and source_line of its metadata, or stack_frame_id and
/// the tables FileNames, FileLocations and StackFrames of the text.
class Places {
 public:
  /// @param text  of the module
  explicit Places(std::string_view text);

  /// Returns "train.py:27"; "line 567 of the program" if the metadata has no location.
  std::string of(const Instruction& instruction) const;

 private:
  std::unordered_map<std::string, std::string> files_;      // by id: "train.py"
  std::unordered_map<std::string, std::string> locations_;  // by id: "train.py:27"
  std::unordered_map<std::string, std::string> frames_;     // by id: "train.py:27"
};

}  // namespace equarx::hlo
