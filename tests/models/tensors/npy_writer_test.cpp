#include "models/tensors/npy_writer.hpp"

#include <algorithm>
#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/tensor_files.hpp"

namespace equarx::npy_writer_test {
namespace {

using namespace equarx::tensors;
using namespace equarx::testing;
using Shape = std::vector<std::uint64_t>;

void count_up(std::uint64_t first, std::span<float> values) {
  for (float& value : values) value = static_cast<float>(first++) * 0.25F;
}

std::string error_of(const std::filesystem::path& path, const Shape& shape = {2}) {
  return file_error_of([&] { write_npy(path, shape, count_up); });
}

TEST_CASE("a small .npy file, byte by byte") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.npy";
  write_npy(path, Shape{1, 2}, count_up);
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  const std::string header = dictionary + std::string(118 - dictionary.size() - 1, ' ') + "\n";
  CHECK(content_of(path) == npy(header, stored<float>({0.0F, 0.25F})));
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("written .npy files read back, for any shape") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.npy";
  const Shape many(64, 1);
  for (const Shape& shape :
       {Shape{1}, Shape{65535}, Shape{65536}, Shape{65537}, Shape{3, 5, 7}, Shape{200000}, many}) {
    write_npy(path, shape, count_up);
    CHECK(std::filesystem::file_size(path) % 64 ==
          4 * (shape.back() * (shape.size() == 3 ? 15 : 1)) % 64);
    const TensorFile file = TensorFile::open(path);
    CHECK(shape_of(file) == shape);
    CHECK(file.dtype() == FileType::fp32);
    std::vector<float> expected(file.elements());
    count_up(0, expected);
    CHECK(read_all(file) == expected);
  }
}

TEST_CASE("a .npy file filled in any order, for every type, byte by byte") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.npy";
  const std::vector<std::pair<FileType, std::string>> types = {
      {FileType::fp32, "<f4"},     {FileType::fp16, "<f2"},     {FileType::bf16, "<u2"},
      {FileType::fp8_e4m3, "|u1"}, {FileType::fp8_e5m2, "|u1"}, {FileType::fp64, "<f8"}};
  for (const auto& [type, descr] : types) {
    CAPTURE(descr);
    NpyFile file(path, type, Shape{3, 2});
    REQUIRE(file.data().size() == 6 * element_bytes(type));
    file.data().back() = std::byte{7};
    file.keep();
    const std::string dictionary =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3, 2), }";
    const std::string header = dictionary + std::string(118 - dictionary.size() - 1, ' ') + "\n";
    std::string data(6 * element_bytes(type), '\0');
    data.back() = '\7';
    CHECK(content_of(path) == npy(header, data));
  }
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("a .npy file that is not kept does not appear") {
  const TemporaryDirectory directory;
  { NpyFile(directory.path() / "a.npy", FileType::fp32, Shape{100}).data()[0] = std::byte{1}; }
  CHECK(file_count(directory.path()) == 0);
  CHECK_THAT(file_error_of([&] { NpyFile(directory.path() / "a.txt", FileType::fp32, Shape{1}); }),
             ContainsSubstring("must end in .npy"));
}

TEST_CASE("the producer is called once for each element, in order") {
  const TemporaryDirectory directory;
  std::uint64_t next = 0;
  write_npy(directory.path() / "a.npy", Shape{100, 2001},
            [&](std::uint64_t first, std::span<float> values) {
              REQUIRE(first == next);
              next += values.size();
            });
  CHECK(next == 200100);
}

TEST_CASE("a new .npy file may replace its own source") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.npy";
  write_npy(path, Shape{100000}, count_up);
  const TensorFile old = TensorFile::open(path);
  write_npy(path, Shape{100000}, [&](std::uint64_t first, std::span<float> values) {
    old.read(first, values);
    for (float& value : values) value *= 2;
  });
  CHECK(read_all(TensorFile::open(path))[99999] == 2 * 0.25F * 99999);
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("writing through a symbolic link replaces its target") {
  const TemporaryDirectory directory;
  const TemporaryDirectory other;
  const std::filesystem::path real = other.path() / "real.npy";
  const std::filesystem::path link = directory.path() / "link.npy";
  write_npy(real, Shape{1}, count_up);
  std::filesystem::create_symlink(real, link);
  write_npy(link, Shape{7}, count_up);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(TensorFile::open(real).elements() == 7);
  CHECK(file_count(other.path()) == 1);
}

TEST_CASE("a new .npy file has default permissions") {
  const TemporaryDirectory directory;
  const mode_t before = umask(027);
  write_npy(directory.path() / "a.npy", Shape{1}, count_up);
  umask(before);
  struct stat status {};
  REQUIRE(stat((directory.path() / "a.npy").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("an error of the producer leaves only the old file") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.npy", "old");
  CHECK_THROWS_WITH(write_npy(path, Shape{200000},
                              [](std::uint64_t first, std::span<float>) {
                                if (first > 0) throw std::runtime_error("from the producer");
                              }),
                    "from the producer");
  CHECK(content_of(path) == "old");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("a failed write leaves only the old file") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.npy", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit = {100000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string message;
  try {
    write_npy(path, Shape{200000}, count_up);
  } catch (const FileError& error) {
    message = error.what();
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(message == path + ": cannot be written: File too large; nothing was changed");
  CHECK(content_of(path) == "old");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("unwritable .npy paths are refused") {
  const TemporaryDirectory directory;
  CHECK_THAT(error_of(directory.path() / "none" / "a.npy"),
             ContainsSubstring("a.npy: cannot be written: No such file or directory"));
  CHECK_THAT(error_of(directory.write("file", "x") + "/a.npy"),
             ContainsSubstring("Not a directory"));
  CHECK_THAT(error_of(directory.path() / "a.txt"), ContainsSubstring("must end in .npy"));
  std::string long_name(300, 'a');
  long_name += ".npy";
  CHECK_THAT(error_of(directory.path() / long_name), ContainsSubstring("File name too long"));
  std::filesystem::create_directory(directory.path() / "d.npy");
  CHECK_THAT(error_of(directory.path() / "d.npy"), ContainsSubstring("is a directory"));
  CHECK(file_count(directory.path()) == 2);
}

TEST_CASE("a pipe or a device is not replaced by a file") {
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe.npy";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(error_of(pipe), ContainsSubstring("is a pipe or a device"));
  // Not a real device: a failing test run as root would destroy it.
  std::filesystem::create_symlink(pipe, directory.path() / "link.npy");
  CHECK_THAT(error_of(directory.path() / "link.npy"), ContainsSubstring("is a pipe or a device"));
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("the .npy writer refuses invalid shapes") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.npy";
  CHECK_THAT(error_of(path, {}), ContainsSubstring("shape ()"));
  CHECK_THAT(error_of(path, {3, 0}), ContainsSubstring("no elements"));
  CHECK_THAT(error_of(path, {1ULL << 40, 1ULL << 40}), ContainsSubstring("more elements than"));
  CHECK_THAT(error_of(path, Shape(65, 1)), ContainsSubstring("has 65 dimensions"));
  CHECK(file_count(directory.path()) == 0);
}

}  // namespace
}  // namespace equarx::npy_writer_test
