#include "models/tensors/npy_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/os/file_descriptor.hpp"
#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kElementsPerPiece = 65536;

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  throw FileError(file, fmt::format("cannot be written: {}; nothing was changed",
                                    std::generic_category().message(error)));
}

/// A new file beside `file`, which takes its place or disappears.
class ReplacementFile {
 public:
  explicit ReplacementFile(const fs::path& file)
      : file_(file), target_(target_of(file)), descriptor_(create()) {
    if (!descriptor_.is_open()) cannot_write(file_, errno);
  }
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile() {
    if (!replaced_) ::unlink(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) cannot_write(file_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void replace() {
    if (!descriptor_.close()) cannot_write(file_, errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) cannot_write(file_, errno);
    replaced_ = true;
  }

 private:
  /// Follows a link, so that the link stays. A device or a pipe must not be replaced by a file.
  static fs::path target_of(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (fs::is_directory(status)) throw FileError(file, "is a directory; name a file in it");
    if (!fs::exists(status)) return file;
    if (!fs::is_regular_file(status))
      throw FileError(file, "is a pipe or a device; name a regular file");
    return fs::canonical(file);
  }

  os::FileDescriptor create() {
    constexpr mode_t kReadAndWriteForAll = 0666;  // less the umask
    for (unsigned attempt = 0;; ++attempt) {
      temporary_ = target_;
      temporary_.replace_filename(fmt::format(".equarx-{}-{}.part", ::getpid(), attempt));
      const int number =
          ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadAndWriteForAll);
      if (number >= 0 || errno != EEXIST) return os::FileDescriptor(number);
    }
  }

  const fs::path& file_;
  fs::path target_;
  fs::path temporary_;
  os::FileDescriptor descriptor_;
  bool replaced_ = false;
};

std::string header_of(std::span<const std::uint64_t> shape) {
  constexpr std::string_view kMagicAndVersion{"\x93NUMPY\x01\x00", 8};
  constexpr std::size_t kLengthBytes = 2;
  constexpr std::size_t kAlignment = 64;  // of the data, numpy.lib.format
  std::string dictionary =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", shape_text(shape));
  const std::size_t unpadded = kMagicAndVersion.size() + kLengthBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  const std::size_t length = dictionary.size();
  std::string header(kMagicAndVersion);
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  return header + dictionary;
}

}  // namespace

void write_npy(const fs::path& file, std::span<const std::uint64_t> shape,
               const ValueProducer& produce) {
  if (file.extension() != ".npy") throw FileError(file, "its name must end in .npy");
  const std::uint64_t elements = count_elements(file, shape);
  ReplacementFile replacement(file);
  const std::string header = header_of(shape);
  replacement.write(std::as_bytes(std::span(header)));
  std::vector<float> piece(std::min<std::uint64_t>(elements, kElementsPerPiece));
  for (std::uint64_t first = 0; first < elements; first += piece.size()) {
    const std::span values =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), elements - first));
    produce(first, values);
    replacement.write(std::as_bytes(values));
  }
  replacement.replace();
}

}  // namespace equarx::tensors
