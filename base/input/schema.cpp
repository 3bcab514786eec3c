#include "base/input/schema.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/once_map.hpp"

namespace equarx::input {
namespace {

// The library's adapter requires the type with sorted keys.
using SortedJson = nlohmann::json;

SortedJson sorted(const Json& document) { return SortedJson(document); }

SortedJson schema_text(const std::string& name) {
  const auto files = embedded_schemas();
  const auto found = std::ranges::find(files, fmt::format("{}.schema", name), &EmbeddedFile::name);
  if (found == files.end()) throw std::logic_error(fmt::format("no schema called {}", name));
  return SortedJson::parse(found->text);
}

/// Returns the compiled schema, cached because compiling takes longer than validating a document.
const valijson::Schema& compiled_schema(const std::string& name) {
  static OnceMap<valijson::Schema> schemas;
  return schemas.get(name, [&](valijson::Schema& made) {
    const SortedJson text = schema_text(name);
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), made);
  });
}

/// The library reports a location as a list of "<root>", "[key]", "[0]".
std::string pointer_of(const valijson::ValidationResults::Error& error) {
  std::string pointer;
  for (std::size_t i = 1; i < error.context.size(); ++i) {
    std::string_view token = error.context[i];
    if (token.starts_with('[')) token = token.substr(1, token.size() - 2);
    pointer += '/';
    pointer += token;
  }
  return pointer;
}

}  // namespace

void check_schema(const Json& document, const std::string& name) {
  const valijson::Schema& schema = compiled_schema(name);
  const SortedJson target = sorted(document);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(target), &results)) return;
  valijson::ValidationResults::Error error;
  results.popError(error);
  std::string description = error.description;
  std::ranges::replace(description, '\n', ' ');
  throw InputError(pointer_of(error), fmt::format("does not match the schema: {}", description));
}

}  // namespace equarx::input
