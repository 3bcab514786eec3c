#include "experiments/run/tensor_store.hpp"

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "models/tensors/file_error.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::run {
namespace {

namespace fs = std::filesystem;
using input::InputError;
using tensors::NewTensor;

template <typename Write>
auto as_input_error(Write&& write) {
  try {
    return std::forward<Write>(write)();
  } catch (const tensors::FileError& error) {
    throw InputError("", error.what());
  }
}

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

class NpyFolder : public TensorStore {
 public:
  NpyFolder(const fs::path& folder, std::span<const NewTensor> tensors) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw InputError(
          "", fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
    std::set<std::string> names;
    for (const NewTensor& tensor : tensors) {
      std::string name = file_name(tensor.name);
      while (!names.insert(name).second) name += '_';
      paths_.push_back(folder / (name + ".npy"));
      files_.push_back(as_input_error(
          [&] { return tensors::NpyFile(paths_.back(), tensor.type, tensor.shape); }));
    }
  }

  std::span<std::byte> data(std::size_t tensor) override { return files_.at(tensor).data(); }
  fs::path path(std::size_t tensor) const override { return paths_.at(tensor); }
  void keep() override {
    as_input_error([&] {
      for (tensors::NpyFile& file : files_) file.keep();
    });
  }

 private:
  std::vector<fs::path> paths_;
  std::vector<tensors::NpyFile> files_;
};

class OneFile : public TensorStore {
 public:
  OneFile(fs::path path, std::span<const NewTensor> tensors)
      : path_(std::move(path)),
        file_(as_input_error([&] { return tensors::SafetensorsFile(path_, tensors); })) {}

  std::span<std::byte> data(std::size_t tensor) override { return file_.data(tensor); }
  fs::path path(std::size_t /*tensor*/) const override { return path_; }
  void keep() override {
    as_input_error([&] { file_.keep(); });
  }

 private:
  fs::path path_;
  tensors::SafetensorsFile file_;
};

}  // namespace

std::unique_ptr<TensorStore> make_tensor_store(const fs::path& path,
                                               std::span<const NewTensor> tensors) {
  if (path.extension() == ".safetensors") return std::make_unique<OneFile>(path, tensors);
  return std::make_unique<NpyFolder>(path, tensors);
}

}  // namespace equarx::run
