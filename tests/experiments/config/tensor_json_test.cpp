#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "experiments/config/set_value.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/tensors/npy_writer.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::config {
namespace {

using equarx::testing::npy;
using equarx::testing::npy_header;
using equarx::testing::safetensors;
using equarx::testing::safetensors_entry;
using equarx::testing::TemporaryDirectory;
using numerics::ElementFormat;
using testing::changed;
using testing::check_refused;
using testing::run;

using Names = std::vector<std::string>;

constexpr std::uint32_t kRanks = 3;

/// Three chips whose tensors are in `files`; no other key of the tensor.
input::Json from_files(const Names& files) {
  input::Json json =
      input::parse_json(R"({"hardware": "tpu-v5e", "topology": {"ring": 3}, "tensor": {},
    "collectives": [
      {"label": "plain", "algorithm": "ring"},
      {"label": "int8", "algorithm": "equarx", "minishards": 1},
      {"label": "blocks", "algorithm": "equarx", "layout": "contiguous", "block": 32,
       "minishards": 1, "ring": "semi-loop"}]})");
  json["tensor"]["values"]["files"] = files;
  return json;
}

TensorConfig tensor_of(const input::Json& json) { return read_config(json).tensor; }

/// A .npy file of float32 that holds element first, first + 1, ... of `values`.
std::string write_values(const TemporaryDirectory& directory, const std::string& name,
                         const std::vector<std::uint64_t>& shape,
                         const std::function<float(std::uint64_t)>& value) {
  const auto path = directory.path() / name;
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> values) {
    for (float& one : values) one = value(first++);
  });
  return path.string();
}

std::string constant(const TemporaryDirectory& directory, const std::string& name,
                     const std::vector<std::uint64_t>& shape) {
  return write_values(directory, name, shape, [](std::uint64_t) { return 1.0F; });
}

// --- Sizes

TEST_CASE("bytes give whole elements in any unit of size") {
  const auto elements = [](const std::string& bytes) {
    return read_config(changed("/tensor/bytes", bytes)).tensor.elements;
  };
  CHECK(elements("8 MiB") == 4194304);
  CHECK(elements("1 kB") == 500);
  CHECK(elements("16 b") == 1);
  CHECK(elements("2 B") == 1);
}

// --- Files

TEST_CASE("a file for each rank gives the shape and the type") {
  const TemporaryDirectory directory;
  const auto file = [&](const std::string& name, const std::string& descr, std::size_t width) {
    return directory.write(name, npy(npy_header(descr, "(2, 3)"), std::string(6 * width, '\0')));
  };
  const std::string fp32 = file("a.npy", "<f4", 4);
  const std::string fp16 = file("b.npy", "<f2", 2);
  const std::string bf16 = file("c.npy", "<u2", 2);
  for (const auto& [path, dtype] :
       {std::pair{fp32, ElementFormat::fp32}, std::pair{fp16, ElementFormat::fp32},
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

TEST_CASE("one file for all ranks has a leading axis of ranks") {
  const TemporaryDirectory directory;
  const TensorConfig tensor =
      tensor_of(from_files({constant(directory, "all.npy", {kRanks, 5, 7})}));
  CHECK(tensor.shape == std::vector<std::uint64_t>{5, 7});
  CHECK(tensor.elements == 35);
  CHECK(tensor.opened.size() == 1);
}

TEST_CASE("a size that is given, too, must be that of the files") {
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

TEST_CASE("values of files give the results of the same values made otherwise, bit for bit") {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kElements = 20011;  // nothing divides it
  const numerics::InputSpec spec{.distribution = numerics::Distribution::heavy_tailed, .seed = 7};
  const auto write = [&](const std::string& name, std::uint32_t first_rank, std::uint64_t ranks,
                         bool leading_axis) {
    std::vector<std::uint64_t> shape = {kElements};
    if (leading_axis) shape.insert(shape.begin(), ranks);
    const std::string path = (directory.path() / name).string();
    std::vector<float> all(ranks * kElements);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      numerics::generate(spec, first_rank + rank, 0,
                         std::span(all).subspan(rank * kElements, kElements));
    return write_values(directory, name, shape, [&](std::uint64_t i) { return all[i]; });
  };
  const Names one_each = {write("0.npy", 0, 1, false), write("1.npy", 1, 1, false),
                          write("2.npy", 2, 1, false)};
  const Names one_for_all = {write("all.npy", 0, kRanks, true)};
  for (const std::string dtype : {"fp32", "bf16"}) {
    input::Json synthetic = from_files({});
    synthetic["tensor"] = input::parse_json(R"({"shape": [20011],
      "values": {"distribution": "heavy-tailed", "seed": 7}})");
    synthetic["tensor"]["dtype"] = dtype;
    const input::Json expected = to_json(run(synthetic))["runs"];
    for (const Names& files : {one_each, one_for_all}) {
      CAPTURE(dtype, files.size());
      input::Json json = from_files(files);
      json["tensor"]["dtype"] = dtype;
      const input::Json result = to_json(run(json));
      CHECK(result["runs"] == expected);
      CHECK_NOTHROW(input::check_schema(input::parse_json(result.dump()), "result"));
    }
  }
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

TEST_CASE("a configuration with files that was written is read as the same") {
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

TEST_CASE("a tensor of a .safetensors file is chosen by its name") {
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
  check_refused([&] { tensor_of(from_files({path})); }, place, path);
  check_refused([&] { tensor_of(choosing("e")); }, place, path);
  check_refused([&] { tensor_of(choosing("d")); }, place, "I64");
  input::Json named_npy = choosing("a");
  named_npy["tensor"]["values"]["files"] = {constant(directory, "n.npy", {3, 4})};
  check_refused([&] { tensor_of(named_npy); }, place, "leave out");
}

TEST_CASE("files that are not what they should be are refused by place and name") {
  const TemporaryDirectory directory;
  const std::string good = constant(directory, "good.npy", {4});
  const std::string data(16, '\0');
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"missing.npy", "does not exist; check the path"},
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

TEST_CASE("files of unequal shapes, or too few or many of them, are refused") {
  const TemporaryDirectory directory;
  const std::string flat = constant(directory, "flat.npy", {12});
  const std::string square = constant(directory, "square.npy", {3, 4});
  const std::string other = constant(directory, "other.npy", {4, 3});
  const std::string ranks = constant(directory, "ranks.npy", {3});
  check_refused(
      [&] {
        tensor_of(from_files({flat, flat, square}));
      },
      "/tensor/values/files/2", square + " has another shape than " + flat);
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

TEST_CASE("files and synthetic values are not given together") {
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
                "a file's name");
}

// --- NaN and Inf

constexpr std::uint64_t kPoisoned = 5000;  ///< element of rank 1

/// Two files alike, but for one element of one rank.
input::Json poisoned(const TemporaryDirectory& directory, float poison) {
  constexpr std::uint64_t kElements = 12288;  // 2048 for each of 3 ranks in each of 2 directions
  return from_files({write_values(directory, "all.npy", {kRanks, kElements}, [&](std::uint64_t i) {
    return i == kElements + kPoisoned ? poison : std::sin(static_cast<float>(i));
  })});
}

/// The result of a collective of the configuration.
std::vector<float> values_of(const input::Json& json, std::size_t collective) {
  const plan::Plan plan = testing::plan_of(json);
  const TensorConfig& tensor = plan.config.tensor;
  values::ResultTensor result(tensor.elements, tensor.dtype);
  const values::ValueResult report =
      values::execute(plan.collectives[collective].candidates.front().program,
                      {tensor.opened, tensor.elements, tensor.dtype}, {.result = &result});
  CHECK(report.ranks_identical);
  std::vector<float> values(tensor.elements);
  result.read(0, values);
  return values;
}

TEST_CASE("an experiment on NaN and Inf ends, without a number that it does not have") {
  const TemporaryDirectory directory;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float poison : {std::nanf(""), -std::nanf(""), kInf, -kInf}) {
    CAPTURE(poison);
    const run::ExperimentResult result = run(poisoned(directory, poison));
    const std::string text = to_json(result).dump();
    CHECK(text.find("NaN") == std::string::npos);
    const input::Json json = input::parse_json(text);
    CHECK_NOTHROW(input::check_schema(json, "result"));
    for (const input::Json& one : json["runs"]) {
      CAPTURE(one["label"]);
      CHECK(one["numerics"]["ranks_identical"] == true);
      for (const char* key :
           {"mse", "nmse", "sqnr_db", "max_abs_error", "mean_signed_error", "cosine_similarity"})
        CHECK(one["numerics"][key].is_null());
      CHECK(one["time_s"].is_number());
    }
    CHECK(json["runs"][1]["numerics"]["mse_vs_baseline"].is_null());
  }
}

TEST_CASE("NaN and Inf spread to their own scale group, and no further") {
  const TemporaryDirectory directory;
  std::set<std::uint64_t> of_register;  // strided: equal mod 1024 within the minishard of 2048
  std::set<std::uint64_t> of_block;     // contiguous
  for (std::uint64_t i = 4096; i < 6144; ++i) {
    if (i % 1024 == kPoisoned % 1024) of_register.insert(i);
    if (i / 32 == kPoisoned / 32) of_block.insert(i);
  }
  REQUIRE(of_register.size() == 2);
  REQUIRE(of_block.size() == 32);
  const std::vector<std::set<std::uint64_t>> groups = {{kPoisoned}, of_register, of_block};
  for (std::size_t collective = 0; collective < groups.size(); ++collective) {
    const std::vector<float> clean = values_of(poisoned(directory, 1.0F), collective);
    for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      CAPTURE(collective, poison);
      const std::vector<float> values = values_of(poisoned(directory, poison), collective);
      std::set<std::uint64_t> not_finite;
      std::size_t changed = 0;
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) not_finite.insert(i);
        if (!groups[collective].contains(i) && values[i] != clean[i]) ++changed;
      }
      CHECK(not_finite == groups[collective]);
      CHECK(changed == 0);
    }
  }
}

TEST_CASE("a plain ring of any format ends with the same bits on all ranks, NaN or not") {
  const TemporaryDirectory directory;
  for (const float poison : {std::nanf(""), -std::numeric_limits<float>::infinity()})
    for (const std::string format : {"fp32", "bf16", "fp16", "int8", "fp8-e4m3", "fp8-e5m2"})
      for (const std::string dtype : {"fp32", "bf16"}) {
        CAPTURE(poison, format, dtype);
        input::Json json = poisoned(directory, poison);
        json["tensor"]["dtype"] = dtype;
        override_value(json, "/collectives", "[]");
        json["collectives"].push_back({{"algorithm", "ring"}, {"format", format}});
        const std::vector<float> values = values_of(json, 0);
        const auto not_finite =
            std::ranges::count_if(values, [](float value) { return !std::isfinite(value); });
        CHECK(not_finite == (format == "int8" ? 0 : 1));  // int8 has neither NaN nor Inf
      }
}

// --- Samples

TEST_CASE("a sample is a share of the tensor, more than nothing") {
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

input::Json sampled(const std::string& sample) {
  input::Json json = changed("/tensor/shape", "[4194304]");
  json["collectives"][1]["minishards"] = 16;
  override_value(json, "/tensor/sample", sample);
  return json;
}

TEST_CASE("a sample has about the error of the whole, and the result says how large it was") {
  const run::ExperimentResult whole = run(sampled("1"));
  for (const std::string sample : {"0.5", "0.25", "0.1"}) {
    CAPTURE(sample);
    const run::ExperimentResult part = run(sampled(sample));
    CHECK_NOTHROW(input::check_schema(input::parse_json(to_json(part).dump()), "result"));
    for (std::size_t i = 0; i < part.runs.size(); ++i) {
      const values::ValueResult& values = part.runs[i].numerics.value();
      CHECK(values.sampled_fraction == Approx(std::stod(sample)).epsilon(0.3));
      CHECK(to_json(part)["runs"][i]["numerics"]["sampled_fraction"] == values.sampled_fraction);
      CHECK(to_json(part)["runs"][i]["numerics"]["elements"] ==
            static_cast<std::uint64_t>(values.sampled_fraction * 4194304 + 0.5));
      CHECK(values.against_exact.nmse ==
            Approx(whole.runs[i].numerics->against_exact.nmse).epsilon(0.03));
      CHECK(part.runs[i].time_s == whole.runs[i].time_s);
    }
  }
}

TEST_CASE("the smallest sample is not empty") {
  const run::ExperimentResult result = run(changed("/tensor/sample", "1e-300"));
  for (const run::RunResult& one : result.runs) {
    CHECK(one.numerics->sampled_fraction > 0.0);
    CHECK(one.numerics->sampled_fraction < 1.0);
    CHECK(one.numerics->against_exact.mse > 0.0);
  }
}

}  // namespace
}  // namespace equarx::config
