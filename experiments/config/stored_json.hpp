// JSON of formats of stored tensors: configs/formats.
#pragma once

#include <string>
#include <string_view>

#include "base/input/object_reader.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::config {

/// Reads and checks a format. @throws InputError below `pointer`
stored::StoredFormat read_stored_format(const input::Json& json, const std::string& pointer = "");

/// Loads a format by the name of a file in configs/formats ("nf4"), or by path (anything that
/// contains a '/' or ends in ".json"). @throws InputError, at `pointer`.
stored::StoredFormat load_stored_format(const std::string& name_or_path,
                                        const std::string& pointer);

/// True for the path of a file, and for the name of a file in configs/formats that is no format of
/// messages, such as "nf4".
bool is_stored_format(const std::string& name_or_path);

/// Inverse of read_stored_format().
input::Json stored_format_json(const stored::StoredFormat& format);

/// A format as the value of a key: the name or path of its file, or an object.
struct FormatChoice {
  void read(input::ObjectReader& reader, std::string_view key, stored::StoredFormat& format) const;
  input::Json write(const stored::StoredFormat& format) const;
  input::Json schema() const;
};

/// Schema of format files, with annotations.
input::Json stored_format_schema();

}  // namespace equarx::config
