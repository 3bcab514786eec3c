#include "base/output/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/os/pipe.hpp"

namespace equarx::output {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, const std::string& reason) {
  throw input::InputError("", fmt::format("cannot write {}: {}", path.string(), reason));
}

/// Resolves the path to the file to be replaced. Rejects devices and pipes.
fs::path target_of(const fs::path& path) {
  std::error_code ignored;  // opening the file reports the error
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) cannot_write(path, "it is a folder; name a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status))
    cannot_write(path, "it is a pipe or a device; name a regular file");
  try {
    return os::resolve_links(path);
  } catch (const std::system_error& links) {
    cannot_write(path, links.code().message());
  }
}

/// Stream buffer of an open descriptor: an unnamed file cannot be opened by a std::ofstream.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(const os::FileDescriptor& file) : file_(file), block_(kBlock) {
    begin();
  }

 private:
  int_type overflow(int_type character) override {
    if (!write_out()) return traits_type::eof();
    if (traits_type::eq_int_type(character, traits_type::eof()))
      return traits_type::not_eof(character);
    return sputc(traits_type::to_char_type(character));
  }
  int sync() override { return write_out() ? 0 : -1; }

  void begin() { setp(block_.data(), block_.data() + block_.size()); }
  bool write_out() {
    const std::span<const char> characters(pbase(), pptr());
    begin();
    return os::write_all(file_, std::as_bytes(characters));
  }

  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  const os::FileDescriptor& file_;
  std::vector<char> block_;
};

}  // namespace

OutputFile::OutputFile(const fs::path& path)
    : path_(path),
      new_(target_of(path)),
      buffer_(std::make_unique<DescriptorBuffer>(new_.descriptor())),
      stream_(buffer_.get()) {
  if (!new_.descriptor().is_open()) cannot_write(path_, std::strerror(errno));
}

void OutputFile::keep() {
  stream_.flush();
  if (!stream_) cannot_write(path_, "is the disk full?");
  if (const int error = new_.put_in_place(); error != 0) cannot_write(path_, std::strerror(error));
}

}  // namespace equarx::output
