#include "experiments/vectors/folder.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/files.hpp"
#include "experiments/vectors/manifest.hpp"
#include "models/tensors/safetensors_writer.hpp"
#include "models/values/result_tensor.hpp"
#include "models/values/tensor_types.hpp"

namespace equarx::vectors {
namespace {

namespace fs = std::filesystem;
using input::Json;
using numerics::ElementFormat;

/// Tensors of one file; bits are written when all are known.
class CaseFile {
 public:
  explicit CaseFile(ElementFormat dtype) : dtype_(dtype) {}

  /// In the type of the configuration's tensor.
  void add_tensor(std::string name, const std::vector<float>& values) {
    std::vector<std::byte> bytes(numerics::payload_bytes({.element = dtype_}, values.size()));
    values::ResultTensor(dtype_, bytes).write(0, values);
    add(std::move(name), values::file_type(dtype_), values.size(), std::move(bytes));
  }
  /// In the type of the values.
  template <typename Value>
  void add_values(const std::string& name, tensors::FileType type,
                  const std::vector<Value>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    add(name, type, values.size(), {bytes.begin(), bytes.end()});
  }

  void write(const fs::path& path) const {
    tensors::SafetensorsFile file(path, tensors_);
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      std::ranges::copy(bytes_[i], file.data(i).begin());
    file.keep();
  }

 private:
  void add(std::string name, tensors::FileType type, std::uint64_t elements,
           std::vector<std::byte> bytes) {
    tensors_.push_back({std::move(name), type, {elements}});
    bytes_.push_back(std::move(bytes));
  }

  ElementFormat dtype_;
  std::vector<tensors::NewTensor> tensors_;
  std::vector<std::vector<std::byte>> bytes_;
};

std::vector<float> joined(const std::vector<values::ResultPart>& parts) {
  std::vector<float> all;
  for (const values::ResultPart& part : parts)
    all.insert(all.end(), part.values.begin(), part.values.end());
  return all;
}

void write_case(const fs::path& path, const CaseVectors& one, ElementFormat dtype) {
  CaseFile file(dtype);
  for (std::size_t rank = 0; rank < one.inputs.size(); ++rank)
    file.add_tensor(fmt::format("input.rank{}", rank), one.inputs[rank]);
  if (!one.residual.empty()) file.add_tensor("residual", one.residual);
  const std::vector<std::string> names = step_names(one.record);
  for (std::size_t i = 0; i < names.size(); ++i)
    file.add_values(names[i], tensors::FileType::fp32, one.record.steps[i].values);
  for (std::size_t rank = 0; rank < one.record.results.size(); ++rank) {
    const std::vector<float> result = joined(one.record.results[rank]);
    if (!result.empty()) file.add_tensor(fmt::format("result.rank{}", rank), result);
  }
  file.add_values("exact", tensors::FileType::fp64, one.record.exact);
  file.add_tensor("rounded_once", one.rounded_once);
  file.write(path);
}

/// The manifest of earlier vectors; std::nullopt if there is none.
std::optional<Json> earlier(const fs::path& folder) {
  std::ifstream file(folder / kManifest);
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json json = Json::parse(text, nullptr, false);
  const bool is_manifest = json.is_object() && json.contains("complete") && json.contains("files");
  if (!is_manifest || !json["files"].is_array()) return std::nullopt;
  return json;
}

/// Removes the files of an earlier manifest, and folders that become empty.
void remove_earlier(const fs::path& folder, const Json& manifest) {
  std::error_code ignored;
  for (const Json& entry : manifest["files"]) {
    if (!entry.is_string()) continue;
    const fs::path file = entry.get<std::string>();
    const bool leaves = std::ranges::find(file, fs::path("..")) != file.end();
    if (file.is_absolute() || leaves || file.extension() != ".safetensors") continue;
    fs::remove(folder / file, ignored);
    if (file.has_parent_path()) fs::remove(folder / file.parent_path(), ignored);
  }
}

}  // namespace

void check_vectors_folder(const fs::path& folder) {
  output::check_folder(folder);
  std::error_code missing;
  const fs::directory_iterator first(folder, missing);
  if (missing || first == fs::directory_iterator() || earlier(folder)) return;
  throw input::InputError(
      "", fmt::format("{} holds other files; name a new or empty folder with -o, or one with "
                      "earlier vectors",
                      folder.string()));
}

void write_vectors(const fs::path& folder, const Vectors& vectors) {
  output::make_folder(folder);
  const Json manifest = manifest_of(vectors);
  const std::optional<Json> old = earlier(folder);
  Json unfinished = {{"complete", false}, {"files", manifest["files"]}};
  if (old)
    for (const Json& file : (*old)["files"]) unfinished["files"].push_back(file);
  output::write_file(folder / kManifest, unfinished.dump(1) + "\n");
  if (old) remove_earlier(folder, *old);
  const std::vector<std::string> names = folder_names(vectors);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const CaseVectors& one : vectors.collectives[i].cases) {
      output::make_folder(folder / names[i]);
      write_case(folder / file_name(names[i], one.info), one, vectors.config.tensor.dtype);
    }
  output::write_file(folder / kManifest, manifest.dump(1) + "\n");
}

}  // namespace equarx::vectors
