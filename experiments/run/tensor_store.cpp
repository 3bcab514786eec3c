#include "experiments/run/tensor_store.hpp"

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::run {
namespace {

namespace fs = std::filesystem;
using input::InputError;
using tensors::NewTensor;

/// Returns a tensor's name with every character that a file name would need quotes for replaced by
/// '_'.
std::string file_name(std::string name) {
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 &&
        std::string_view("-_.+").find(letter) == std::string_view::npos)
      letter = '_';
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

/// File names without two equal ones, for names within one folder.
class FileNames {
 public:
  std::string add(const std::string& name) {
    std::string file = file_name(name);
    while (!taken_.insert(file).second) file += '_';
    return file;
  }

 private:
  std::set<std::string> taken_;
};

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(
        "", fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
}

class NpyFolder : public TensorStore {
 public:
  NpyFolder(const fs::path& folder, std::span<const StoredTensor> tensors) {
    struct Group {
      fs::path folder;
      FileNames files;
    };
    std::map<std::string, Group> groups = {{"", {folder, {}}}};
    FileNames subfolders;
    create_folder(folder);
    for (const StoredTensor& stored : tensors) {
      const auto [found, is_new] = groups.try_emplace(stored.group);
      Group& group = found->second;
      if (is_new) {
        group.folder = folder / subfolders.add(stored.group);
        create_folder(group.folder);
      }
      paths_.push_back(group.folder / (group.files.add(stored.tensor.name) + ".npy"));
      files_.emplace_back(paths_.back(), stored.tensor.type, stored.tensor.shape);
    }
  }

  std::span<std::byte> data(std::size_t tensor) override { return files_.at(tensor).data(); }
  fs::path path(std::size_t tensor) const override { return paths_.at(tensor); }
  void keep() override {
    for (tensors::NpyFile& file : files_) file.keep();
  }

 private:
  std::vector<fs::path> paths_;
  std::vector<tensors::NpyFile> files_;
};

/// The tensors of a single file, named by their groups, too.
std::vector<NewTensor> with_groups(std::span<const StoredTensor> tensors) {
  std::vector<NewTensor> named;
  for (const StoredTensor& stored : tensors) {
    named.push_back(stored.tensor);
    if (!stored.group.empty()) named.back().name = stored.group + '/' + stored.tensor.name;
  }
  return named;
}

class OneFile : public TensorStore {
 public:
  OneFile(fs::path path, std::span<const StoredTensor> tensors)
      : path_(std::move(path)), file_(path_, with_groups(tensors)) {}

  std::span<std::byte> data(std::size_t tensor) override { return file_.data(tensor); }
  fs::path path(std::size_t /*tensor*/) const override { return path_; }
  void keep() override { file_.keep(); }

 private:
  fs::path path_;
  tensors::SafetensorsFile file_;
};

}  // namespace

std::unique_ptr<TensorStore> make_tensor_store(const fs::path& path,
                                               std::span<const StoredTensor> tensors) {
  if (path.extension() == ".safetensors") return std::make_unique<OneFile>(path, tensors);
  return std::make_unique<NpyFolder>(path, tensors);
}

}  // namespace equarx::run
