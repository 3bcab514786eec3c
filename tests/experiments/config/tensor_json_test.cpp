#include "experiments/config/tensor_json.hpp"

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "models/values/tensor_source.hpp"
#include "tests/support/mistakes.hpp"
#include "tests/support/rank_files.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::config::tensor_json_test {
namespace {

using numerics::ElementFormat;
using testing::changed;
using testing::check_mistakes;
using testing::check_refused;
using testing::constant;
using testing::from_files;
using testing::kRanks;
using testing::Names;
using testing::npy;
using testing::npy_header;
using testing::plan_of;
using testing::safetensors;
using testing::safetensors_entry;
using testing::TemporaryDirectory;
using testing::write_values;

TensorConfig tensor_of(const input::Json& json) { return read_config(json).tensor; }

// --- Sizes

TEST_CASE("bytes in any unit, or as an integer, give whole elements") {
  const auto elements = [](const std::string& bytes) {
    return read_config(changed("/tensor/bytes", bytes)).tensor.elements;
  };
  CHECK(elements("1048576") == elements("1 MiB"));
  CHECK(elements("8 MiB") == 4194304);
  CHECK(elements("1 kB") == 500);
  CHECK(elements("2 B") == 1);
}

TEST_CASE("sizes with a missing or wrong unit, or a fraction of an element, are refused") {
  check_mistakes(
      {{"/tensor/bytes", "\"45\"", "/tensor/bytes", "'45' has no unit"},
       {"/tensor/bytes", "45 GB/s", "/tensor/bytes", "'GB/s' is not a unit of a size"},
       {"/tensor/bytes", "4 Mib", "/tensor/bytes", "4 Mib is 4 mebibits = 512 KiB; write 4 MiB"},
       {"/tensor/bytes", "4x", "/tensor/bytes", "like \"32 MiB\""},
       {"/tensor/bytes", "", "/tensor/bytes", "like \"32 MiB\""},
       {"/tensor/bytes", "NaN B", "/tensor/bytes", "like \"32 MiB\""},
       {"/tensor/bytes", "inf B", "/tensor/bytes", "like \"32 MiB\""},
       {"/tensor/bytes", "-2 B", "/tensor/bytes", "positive whole number of bf16 elements"},
       {"/tensor/bytes", "0 B", "/tensor/bytes", "positive whole number of bf16 elements"},
       {"/tensor/bytes", "3 B", "/tensor/bytes", "positive whole number of bf16 elements"},
       {"/tensor/bytes", "3", "/tensor/bytes", "3 B is not a positive whole number of bf16"},
       {"/tensor/bytes", "-4", "/tensor/bytes", "or a whole number of bytes"},
       {"/tensor/bytes", "4.5", "/tensor/bytes", "or a whole number of bytes"},
       {"/tensor/bytes", "2.5 B", "/tensor/bytes", "whole number of bf16 elements"}});
}

TEST_CASE("excessive sizes are refused without overflow") {
  check_mistakes(
      {{"/tensor/shape", "[9223372036854775808]", "/tensor/shape/0", "is not an integer"},
       {"/tensor/shape", "[9223372036854775807]", "/tensor/shape/0", "is not an integer"},
       {"/tensor/shape", "[18446744073709551616]", "/tensor/shape/0", "is not an integer"},
       {"/tensor/shape", "[4294967296, 4294967296]", "/tensor/shape", "elements in all"},
       {"/tensor/shape", "[281474976710656, 2]", "/tensor/shape", "elements in all"},
       {"/tensor/bytes", "1e300 PB", "/tensor/bytes", "is too large"},
       {"/tensor/bytes", "9223372036854775808 B", "/tensor/bytes", "is too large"},
       {"/tensor/bytes", "1e200 B", "/tensor/bytes", "is too large"},
       {"/collectives/1/minishards", "9223372036854775808", "/collectives/1/minishards",
        "from 1 to 1048576"},
       {"/collectives/1/minishards", "4294967297", "/collectives/1/minishards",
        "from 1 to 1048576"},
       {"/topology/ring", "9223372036854775808", "/topology/ring", "is not an integer"},
       {"/topology/mesh", "65536x65536x65536x65536", "/topology/mesh", "smaller grid"},
       {"/topology/mesh", "99999999999999999999x2", "/topology/mesh", "smaller grid"}});
}

TEST_CASE("a tensor has any type without scales, which determines its bytes") {
  for (const ElementFormat dtype : numerics::kTensorFormats) {
    const std::string name(numerics::name(dtype));
    CAPTURE(name);
    input::Json json = changed("/tensor/dtype", name);
    json["tensor"].erase("shape");
    json["tensor"]["bytes"] = "4 KiB";
    json["collectives"][0].erase("format");
    const ExperimentConfig config = read_config(json);
    CHECK(config.tensor.dtype == dtype);
    CHECK(config.tensor.elements == 4096 * 8 / numerics::element_bits(dtype));
    CHECK(config.collectives[0].format.element == dtype);
    CHECK(tensor_json(config.tensor).at("dtype") == name);
  }
  check_mistakes({{"/tensor/dtype", "int8", "/tensor/dtype", "one of fp32, bf16, fp16, fp8-e4m3"},
                  {"/tensor/dtype", "float8_e4m3fnuz", "/tensor/dtype", "one of fp32, bf16, fp16"},
                  {"/tensor/dtype", "fp8", "/tensor/dtype", "one of fp32"}});
}

// --- Files

TEST_CASE("one file per rank determines shape and type") {
  const TemporaryDirectory directory;
  const auto file = [&](const std::string& name, const std::string& descr, std::size_t width) {
    return directory.write(name, npy(npy_header(descr, "(2, 3)"), std::string(6 * width, '\0')));
  };
  const std::string fp32 = file("a.npy", "<f4", 4);
  const std::string fp16 = file("b.npy", "<f2", 2);
  const std::string bf16 = file("c.npy", "<u2", 2);
  for (const auto& [path, dtype] :
       {std::pair{fp32, ElementFormat::fp32}, std::pair{fp16, ElementFormat::fp16},
        std::pair{bf16, ElementFormat::bf16}}) {
    CAPTURE(path);
    const TensorConfig tensor = tensor_of(from_files({path, path, path}));
    CHECK(tensor.shape == std::vector<std::uint64_t>{2, 3});
    CHECK(tensor.elements == 6);
    CHECK(tensor.dtype == dtype);
    CHECK(tensor.opened.size() == kRanks);
  }
  input::Json json = from_files({fp32, fp16, bf16});
  json["tensor"]["dtype"] = "bf16";
  CHECK(tensor_of(json).dtype == ElementFormat::bf16);
}

TEST_CASE("FP8 tensors from .safetensors files keep their type") {
  const TemporaryDirectory directory;
  for (const auto& [stored, dtype] : {std::pair{"F8_E4M3", ElementFormat::fp8_e4m3},
                                      std::pair{"F8_E5M2", ElementFormat::fp8_e5m2}}) {
    const std::string file = directory.write(
        "a.safetensors", safetensors("{" + safetensors_entry("a", stored, "[2,3]", 0, 6) + "}",
                                     std::string(6, '\x3c')));
    const TensorConfig tensor = tensor_of(from_files({file, file, file}));
    CHECK(tensor.dtype == dtype);
    CHECK(tensor.bytes() == 6);
  }
}

TEST_CASE("one file for all ranks has a leading axis of ranks") {
  const TemporaryDirectory directory;
  const TensorConfig tensor =
      tensor_of(from_files({constant(directory, "all.npy", {kRanks, 5, 7})}));
  CHECK(tensor.shape == std::vector<std::uint64_t>{5, 7});
  CHECK(tensor.elements == 35);
  CHECK(tensor.opened.size() == 1);
}

TEST_CASE("an explicit size must match the files") {
  const TemporaryDirectory directory;
  const input::Json json = from_files({constant(directory, "all.npy", {kRanks, 4, 6})});
  const auto with = [&](const std::string& key, const std::string& value) {
    input::Json changed = json;
    override_value(changed, "/tensor/" + key, value);
    return changed;
  };
  CHECK(tensor_of(with("shape", "[4, 6]")).elements == 24);
  CHECK(tensor_of(with("shape", "[2, 12]")).shape == std::vector<std::uint64_t>{2, 12});
  CHECK(tensor_of(with("bytes", "96 B")).elements == 24);
  for (const std::string shape : {"[3, 4, 6]", "[4, 7]", "[1]"})
    check_refused([&] { tensor_of(with("shape", shape)); }, "/tensor/shape",
                  "is not the size of the files' tensors, [4, 6]; leave it out");
  check_refused([&] { tensor_of(with("bytes", "48 B")); }, "/tensor/bytes", "leave it out");
}

TEST_CASE("each rank has its own file") {
  const TemporaryDirectory directory;
  Names files;
  for (const float value : {1.0F, 2.0F, 4.0F})
    files.push_back(write_values(directory, std::to_string(files.size()) + ".npy", {8},
                                 [&](std::uint64_t i) { return i == 0 ? value : 0.0F; }));
  const ExperimentConfig config = read_config(from_files(files));
  const values::TensorSource source(config.tensor.opened, 8, ElementFormat::fp32);
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    std::vector<float> values(1);
    source.read(rank, 0, values);
    CHECK(values[0] == static_cast<float>(1U << rank));
  }
}

TEST_CASE("a configuration with files survives a round trip") {
  const TemporaryDirectory directory;
  const std::string data(kRanks * 4 * 4, '\0');
  const std::string path = directory.write(
      "t.safetensors",
      safetensors(fmt::format("{{{}}}", safetensors_entry("x", "F32", "[3,4]", 0, 48)), data));
  input::Json json = from_files({path});
  json["tensor"]["values"]["tensor"] = "x";
  json["tensor"]["sample"] = 0.5;
  const input::Json once = to_json(read_config(json));
  CHECK(to_json(read_config(once)) == once);
  CHECK(once["tensor"] == input::Json({{"shape", {4}},
                                       {"dtype", "fp32"},
                                       {"values", {{"files", {path}}, {"tensor", "x"}}},
                                       {"sample", 0.5}}));
  CHECK_NOTHROW(input::check_schema(json, "experiment"));
  CHECK_NOTHROW(input::check_schema(once, "experiment"));
}

TEST_CASE("a tensor of a .safetensors file is selected by name") {
  const TemporaryDirectory directory;
  const std::string header =
      fmt::format("{{{},{},{}}}", safetensors_entry("a", "F32", "[3,4]", 0, 48),
                  safetensors_entry("b/c", "BF16", "[3,2,1]", 48, 60),
                  safetensors_entry("d", "I64", "[1]", 60, 68));
  const std::string path =
      directory.write("t.safetensors", safetensors(header, std::string(68, '\0')));
  const auto choosing = [&](const std::string& name) {
    input::Json json = from_files({path});
    json["tensor"]["values"]["tensor"] = name;
    return json;
  };
  CHECK(tensor_of(choosing("a")).shape == std::vector<std::uint64_t>{4});
  const TensorConfig tensor = tensor_of(choosing("b/c"));
  CHECK(tensor.shape == std::vector<std::uint64_t>{2, 1});
  CHECK(tensor.dtype == ElementFormat::bf16);
  const std::string place = "/tensor/values/files/0";
  check_refused(
      [&] { tensor_of(from_files({path})); }, place,
      path + ": holds 3 tensors ('a', 'b/c', 'd'); name one of them by /tensor/values/tensor");
  check_refused([&] { tensor_of(choosing("e")); }, place, path);
  check_refused([&] { tensor_of(choosing("d")); }, place, "I64");
  input::Json named_npy = choosing("a");
  named_npy["tensor"]["values"]["files"] = {constant(directory, "n.npy", {3, 4})};
  check_refused([&] { tensor_of(named_npy); }, place, "leave out");
}

TEST_CASE("invalid files are refused by pointer and name") {
  const TemporaryDirectory directory;
  const std::string good = constant(directory, "good.npy", {4});
  const std::string data(16, '\0');
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"missing.npy", "missing.npy: does not exist in /"},
      {"missing.npy", " (the current directory); check the path"},
      {"/missing.npy", "/missing.npy: does not exist; check the path"},
      {directory.path().string(), "directory"},
      {directory.write("kind.txt", "1 2 3"), ".npy or .safetensors"},
      {directory.write("empty.npy", ""), "empty.npy"},
      {directory.write("short.npy", npy(npy_header("<f4", "(4,)"), data.substr(1))), "short.npy"},
      {directory.write("f8.npy", npy(npy_header("<f8", "(2,)"), data)), "f8"},
      {directory.write("i4.npy", npy(npy_header("<i4", "(4,)"), data)), "i4"},
      {directory.write("big_endian.npy", npy(npy_header(">f4", "(4,)"), data)), "f4"},
      {directory.write("huge.npy", npy(npy_header("<f4", "(9999999999, 9999999999)"), data)),
       "huge.npy"},
      {directory.write("negative.npy", npy(npy_header("<f4", "(-4,)"), data)), "negative.npy"},
      {directory.write("fortran.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': "
                                          "(2, 2), }\n",
                                          data)),
       "ortran"},
      {directory.write("huge.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
       "huge.safetensors"}};
  for (const auto& [path, remedy] : bad) {
    CAPTURE(path);
    const input::Json config = from_files({good, path, good});
    check_refused([&] { tensor_of(config); }, "/tensor/values/files/1: " + path, remedy);
  }
}

TEST_CASE("files of unequal shapes, or in the wrong number, are refused") {
  const TemporaryDirectory directory;
  const std::string flat = constant(directory, "flat.npy", {12});
  const std::string square = constant(directory, "square.npy", {3, 4});
  const std::string other = constant(directory, "other.npy", {4, 3});
  const std::string ranks = constant(directory, "ranks.npy", {3});
  check_refused(
      [&] {
        tensor_of(from_files({flat, flat, square}));
      },
      "/tensor/values/files/2", square + " and " + flat + " differ in shape");
  check_refused(
      [&] {
        tensor_of(from_files({square, other, square}));
      },
      "/tensor/values/files/1", "all ranks need the same");
  const std::string place = "/tensor/values/files";
  check_refused([&] { tensor_of(from_files({flat, flat})); }, place, "2 files for 3 ranks");
  check_refused(
      [&] {
        tensor_of(from_files({flat, flat, flat, flat}));
      },
      place, "4 files for 3 ranks; give one for each, or one with a leading axis of 3");
  check_refused([&] { tensor_of(from_files({other})); }, place,
                other + " has the shape [4, 3]; one file for 3 ranks needs a leading axis of 3");
  check_refused([&] { tensor_of(from_files({ranks})); }, place, "has the shape [3]; one file");
}

TEST_CASE("files and synthetic values exclude each other") {
  const TemporaryDirectory directory;
  const std::string path = constant(directory, "all.npy", {3, 4});
  for (const auto& [key, value] : {std::pair<std::string, input::Json>{"seed", 1},
                                   {"distribution", "normal"},
                                   {"ranks", "identical"}}) {
    input::Json json = from_files({path});
    json["tensor"]["values"][key] = value;
    check_refused([&] { tensor_of(json); }, "/tensor/values/" + key, "remove it, or \"files\"");
    CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
  }
  check_refused([] { tensor_of(changed("/tensor/values/tensor", "x")); }, "/tensor/values/tensor",
                "remove it");
  check_refused([] { tensor_of(changed("/tensor/values/files", "[1]")); }, "/tensor/values/files/0",
                "a file name");
}

// --- Samples

TEST_CASE("a sample is a positive share of the tensor") {
  CHECK(tensor_of(changed("/tensor/sample", "0.25")).sample == 0.25);
  CHECK(tensor_of(changed("/tensor/sample", "1")).sample == 1.0);
  CHECK(tensor_of(testing::good_config()).sample == 1.0);
  const std::string place = "/tensor/sample";
  for (const std::string value : {"0", "0.0", "-0.0", "-1", "1.0000001", "2", "1e300", "\"0.5\"",
                                  "50 %", "true", "null", "[]"}) {
    CAPTURE(value);
    const input::Json json = changed(place, value);
    check_refused([&] { read_config(json); }, place, "is not a number above 0 and up to 1");
    CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
  }
}

}  // namespace
}  // namespace equarx::config::tensor_json_test
