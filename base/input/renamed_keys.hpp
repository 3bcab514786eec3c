// Result keys renamed after version 0.2. Readers of results accept the old names until version 0.4.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/input/object_reader.hpp"

namespace equarx::input {

/// One key of a result, before and after it was renamed.
struct RenamedKey {
  std::string_view before;
  std::string_view now;
};

/// All renamed result keys.
inline constexpr std::array<RenamedKey, 5> kRenamedKeys = {{{"computing_s", "compute_s"},
                                                            {"alone_s", "isolated_s"},
                                                            {"bubbles_s", "idle_s"},
                                                            {"overhead_s", "sync_s"},
                                                            {"allreduce_s", "exposed_s"}}};

/// Current name of a number of a run: "breakdown/bubbles_s" -> "breakdown/idle_s".
std::string current_name(std::string_view path);

/// Renames the keys of `run` and of all objects in it. Their order stays the same.
void rename_keys(Json& run);

/// True if the text of a result contains a key that was renamed.
bool has_renamed_keys(std::string_view text);

/// Note for the user that `path` uses `before`, or several old names if that is empty.
std::string renamed_note(std::string_view path, std::string_view before = {});

}  // namespace equarx::input
