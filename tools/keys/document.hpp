// Schema documents, made from the tables of keys.
#pragma once

#include <string>
#include <string_view>

#include "base/input/object_reader.hpp"

namespace equarx::keys {

/// Moves shared definitions to the root of a schema. @throws std::logic_error if two of one name
/// differ
input::Json with_definitions(const input::Json& schema);

/// Schema as published: a title, and neither annotations nor Markdown.
input::Json published(const input::Json& document, std::string_view title,
                      std::string_view description);

/// Markdown as plain text, without links.
std::string plain_text(std::string_view markdown);

/// JSON in which every object or array that fits is on one line.
std::string schema_text(const input::Json& json);

}  // namespace equarx::keys
