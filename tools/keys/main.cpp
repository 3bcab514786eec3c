// Writes the JSON Schemas in configs/schema and the tables of keys in docs/ from the tables of
// fields, metrics and presets in the sources.
//
// Usage: generate FOLDER [--check]: FOLDER is the repository. With --check, nothing is written;
// the exit status is 1 if a file is stale.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "tools/keys/document.hpp"
#include "tools/keys/documents.hpp"
#include "tools/keys/metrics.hpp"
#include "tools/keys/pages.hpp"
#include "tools/keys/presets.hpp"

namespace equarx::keys {
namespace {

using Files = std::map<std::filesystem::path, std::string>;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// All generated files with their contents.
Files generated(const std::filesystem::path& root) {
  Files files;
  DocumentRows rows;
  for (const Document& document : documents()) {
    const input::Json whole = with_definitions(document.schema());
    files[root / "configs/schema" / fmt::format("{}.schema.json", document.name)] =
        schema_text(published(whole, document.title, document.description));
    rows[document.name] = key_rows(whole);
  }
  const std::filesystem::path results = root / "configs/schema/result.schema.json";
  files[results] = schema_text(with_metrics(input::Json::parse(contents(results))));
  rows["results of run"] = run_rows();
  rows["results of step"] = step_rows();
  Files pages;
  std::set<TablePlace> places;
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md") continue;
    pages[entry.path()] = contents(entry.path());
    for (const TablePlace& place : table_places(pages[entry.path()])) places.insert(place);
  }
  for (const std::string& key : missing_keys(rows, places))
    throw std::runtime_error(fmt::format("no table of docs/ has {}", key));
  const bool has_presets = std::ranges::any_of(
      pages, [](const auto& page) { return page.second.find(kPresets) != std::string::npos; });
  if (!has_presets) throw std::runtime_error(fmt::format("no page of docs/ has {}", kPresets));
  for (const auto& [path, page] : pages)
    files[path] = with_table(with_tables(page, rows, places), kPresets, preset_lines());
  return files;
}

int run(const std::filesystem::path& root, bool checks) {
  int stale = 0;
  for (const auto& [path, text] : generated(root)) {
    if (contents(path) == text) continue;
    ++stale;
    if (checks)
      std::cerr << fmt::format("{} does not match the tables of fields and metrics\n",
                               path.string());
    else
      std::ofstream(path, std::ios::binary) << text;
  }
  if (checks && stale > 0)
    std::cerr << "Build the target keys, which writes these files, and commit them.\n";
  return checks && stale > 0 ? 1 : 0;
}

}  // namespace
}  // namespace equarx::keys

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool checks = arguments.size() == 2 && arguments[1] == "--check";
  if (arguments.empty() || (arguments.size() > 1 && !checks)) {
    std::cerr << "usage: generate FOLDER [--check]\n";
    return 2;
  }
  try {
    return equarx::keys::run(arguments[0], checks);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
