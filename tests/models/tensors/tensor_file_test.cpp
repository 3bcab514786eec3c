#include "models/tensors/tensor_file.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <thread>
#include <type_traits>

#include "tests/support/tensor_files.hpp"

namespace equarx::tensor_file_test {
namespace {

using namespace equarx::tensors;
using namespace equarx::testing;
using namespace std::string_literals;

static_assert(std::is_nothrow_move_constructible_v<TensorFile>);
static_assert(!std::is_copy_constructible_v<TensorFile>);

constexpr float kInf = std::numeric_limits<float>::infinity();

std::string open_error(const std::string& path,
                       std::optional<std::string_view> tensor = std::nullopt) {
  return file_error_of([&] { TensorFile::open(path, tensor); });
}

TEST_CASE("fp32 from .npy") {
  const TemporaryDirectory directory;
  const TensorFile file = TensorFile::open(directory.write(
      "a.npy", npy(npy_header("<f4", "(2, 3)"), stored<float>({1, -2.5, kInf, 0, 1e-40F, 3}))));
  CHECK(shape_of(file) == std::vector<std::uint64_t>{2, 3});
  CHECK(file.dtype() == FileType::fp32);
  CHECK(file.elements() == 6);
  CHECK(read_all(file) == std::vector<float>{1, -2.5, kInf, 0, 1e-40F, 3});
}

TEST_CASE("fp16 from .npy, with subnormals, Inf and NaN") {
  const TemporaryDirectory directory;
  const TensorFile file = TensorFile::open(directory.write(
      "a.npy",
      npy(npy_header("<f2", "(7,)"),
          stored<std::uint16_t>({0x3c00, 0xc100, 0x0001, 0x8000, 0x7c00, 0xfc00, 0x7e01}), 2)));
  CHECK(file.dtype() == FileType::fp16);
  const std::vector<float> values = read_all(file);
  CHECK(values[0] == 1.0F);
  CHECK(values[1] == -2.5F);
  CHECK(values[2] == 0x1p-24F);
  CHECK((values[3] == 0 && std::signbit(values[3])));
  CHECK(values[4] == kInf);
  CHECK(values[5] == -kInf);
  CHECK(std::isnan(values[6]));
}

TEST_CASE("bf16 from .npy as u2, at an odd offset") {
  const TemporaryDirectory directory;
  for (const std::string padding : {"", " "}) {
    const TensorFile file = TensorFile::open(
        directory.write("a.npy", npy(npy_header("<u2", "(4,)") + padding,
                                     stored<std::uint16_t>({0x3f80, 0xc020, 0x0001, 0xff80}))));
    CHECK(file.dtype() == FileType::bf16);
    CHECK(read_all(file) == std::vector<float>{1, -2.5, std::ldexp(1.0F, -133), -kInf});
  }
}

TEST_CASE("tensors from .safetensors, one after the other, unaligned") {
  const TemporaryDirectory directory;
  const std::string header = "{"s + safetensors_entry("one", "U8", "[1]", 0, 1) + "," +
                             safetensors_entry("a", "F32", "[2,1]", 1, 9) + "," +
                             safetensors_entry("b", "F16", "[2]", 9, 13) + "," +
                             safetensors_entry("c", "BF16", "[1]", 13, 15) + "}";
  for (const std::string padding : {"", " ", "  ", "   "}) {
    const std::string path = directory.write(
        "t.safetensors",
        safetensors(header + padding, "x"s + stored<float>({1.5, -3}) +
                                          stored<std::uint16_t>({0x3c00, 0x03ff, 0x4040})));
    const TensorFile a = TensorFile::open(path, "a");
    CHECK(shape_of(a) == std::vector<std::uint64_t>{2, 1});
    CHECK(read_all(a) == std::vector<float>{1.5, -3});
    CHECK(read_all(TensorFile::open(path, "b")) == std::vector<float>{1, 0x3ffp-24F});
    CHECK(read_all(TensorFile::open(path, "c")) == std::vector<float>{3});
    CHECK_THAT(open_error(path), ContainsSubstring("name one of them"));
  }
}

TEST_CASE("any piece of a tensor can be read, but nothing outside it") {
  const TemporaryDirectory directory;
  const TensorFile file = TensorFile::open(
      directory.write("a.npy", npy(npy_header("<f4", "(2, 2)"), stored<float>({0, 1, 2, 3}))));
  std::vector<float> values(2);
  file.read(1, values);
  CHECK(values == std::vector<float>{1, 2});
  file.read(2, values);  // the second of two ranks
  CHECK(values == std::vector<float>{2, 3});
  CHECK_NOTHROW(file.read(4, {}));
  CHECK_THROWS_AS(file.read(3, values), std::out_of_range);
  CHECK_THROWS_AS(file.read(5, {}), std::out_of_range);
  CHECK_THROWS_AS(file.read(std::numeric_limits<std::uint64_t>::max(), values), std::out_of_range);
}

TEST_CASE("a moved-to tensor can be read") {
  const TemporaryDirectory directory;
  TensorFile one = TensorFile::open(
      directory.write("a.npy", npy(npy_header("<f4", "(1,)"), stored<float>({7}))));
  std::vector<TensorFile> files;
  files.push_back(std::move(one));
  CHECK(read_all(files.front()) == std::vector<float>{7});
}

TEST_CASE("the extension selects the file format") {
  const TemporaryDirectory directory;
  const std::string contents = npy(npy_header("<f4", "(1,)"), stored<float>({7}));
  for (const std::string name : {"a.bin", "a", "a.npz", ".npy"})
    CHECK_THAT(open_error(directory.write(name, contents)),
               ContainsSubstring("name must end in .npy or .safetensors"));
  CHECK_THAT(open_error(directory.write("a.safetensors", contents)),
             ContainsSubstring("is not a safetensors file"));
  CHECK_THAT(open_error(directory.write("s.npy", safetensors("{}", ""))),
             ContainsSubstring("is not a .npy file"));
  CHECK_THAT(open_error(directory.write("a.npy", contents), "x\n"),
             ContainsSubstring("one unnamed tensor; leave out 'x?'"));
}

TEST_CASE("an error names the file as given") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("bad\n.npy", "x");
  CHECK(open_error(path) == (directory.path() / "bad?.npy").string() +
                                ": is not a .npy file; write it with numpy.save()");
}

/// Bytes of file pages currently mapped by this process, without anonymous memory.
std::size_t mapped_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  std::ifstream("/proc/self/statm") >> total >> resident >> shared;
  return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_CASE("reading a large file on several threads keeps the mapped memory small") {
  constexpr std::uint64_t kElements = 1 << 24;
  constexpr std::uint64_t kPiece = 10007;
  constexpr unsigned kThreads = 4;
  constexpr std::size_t kMiB = 1 << 20;
  const TemporaryDirectory directory;
  std::string path;
  {
    std::string contents =
        npy(npy_header("<f4", "(" + std::to_string(kElements) + ",)"), std::string());
    const std::size_t offset = contents.size();
    contents.resize(offset + kElements * sizeof(float));
    for (std::uint64_t i = 0; i < kElements; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(contents.data() + offset + i * sizeof value, &value, sizeof value);
    }
    path = directory.write("a.npy", contents);
  }
  const TensorFile file = TensorFile::open(path);
  const std::size_t before = mapped_bytes();
  std::vector<std::size_t> wrong(kThreads);
  std::vector<std::size_t> most(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> values(kPiece);
      for (std::uint64_t first = t * kPiece; first + kPiece <= kElements;
           first += kThreads * kPiece) {
        file.read(first, values);
        for (std::uint64_t i = 0; i < kPiece; ++i)
          wrong[t] += values[i] != static_cast<float>(first + i);
        most[t] = std::max(most[t], mapped_bytes());
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::size_t>(kThreads));
  CHECK(*std::ranges::max_element(most) < before + 16 * kMiB);
}

constexpr const char* kPython = "/usr/bin/python3";

bool has_numpy() {
  return std::filesystem::exists(kPython) &&
         run_command({kPython, "-c", "import numpy"}).exit_code == 0;
}

TEST_CASE("files written by numpy are read or refused with a remedy") {
  if (!has_numpy()) {
    WARN("skipped: numpy is not installed (python3-numpy)");
    return;
  }
  const TemporaryDirectory directory;
  const std::string script = R"(
import sys, numpy
from numpy.lib import format
a = numpy.arange(24, dtype='<f4').reshape(2, 3, 4) / 8 - 1
save = lambda name, array: numpy.save(f'{sys.argv[1]}/{name}.npy', array)
save('f4', a)
save('f2', a.astype('<f2'))
save('u2', (a.view('<u4') >> 16).astype('<u2'))
save('line', a[0, 0])
for version in (2, 3):
    with open(f'{sys.argv[1]}/v{version}.npy', 'wb') as file:
        format.write_array(file, a, version=(version, 0))
save('f8', a.astype('<f8'))
save('big', a.astype('>f4'))
save('fortran', numpy.asfortranarray(a))
save('scalar', numpy.float32(1))
save('empty', a[:0])
save('struct', numpy.zeros(3, dtype=[('x', '<f4')]))
numpy.savez(f'{sys.argv[1]}/archive.npz', a)
)";
  REQUIRE(run_command({kPython, "-c", script, directory.path().string()}).err.empty());
  const auto path = [&](const std::string& name) { return (directory.path() / name).string(); };

  std::vector<float> expected(24);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i) / 8 - 1;
  for (const std::string name : {"f4", "f2", "u2", "v2", "v3"}) {
    CAPTURE(name);
    const TensorFile file = TensorFile::open(path(name + ".npy"));
    CHECK(shape_of(file) == std::vector<std::uint64_t>{2, 3, 4});
    CHECK(read_all(file) == expected);
  }
  CHECK(shape_of(TensorFile::open(path("line.npy"))) == std::vector<std::uint64_t>{4});
  CHECK_THAT(open_error(path("f8.npy")), ContainsSubstring("'<f8'"));
  CHECK_THAT(open_error(path("big.npy")), ContainsSubstring("big-endian"));
  CHECK_THAT(open_error(path("fortran.npy")), ContainsSubstring("Fortran order"));
  CHECK_THAT(open_error(path("scalar.npy")), ContainsSubstring("single number"));
  CHECK_THAT(open_error(path("empty.npy")), ContainsSubstring("no elements"));
  CHECK_THAT(open_error(path("struct.npy")), ContainsSubstring("structured array"));
  CHECK_THAT(open_error(path("archive.npz")), ContainsSubstring("must end in .npy"));
}

}  // namespace
}  // namespace equarx::tensor_file_test
