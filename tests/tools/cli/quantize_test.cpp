// quantize on the activations in tests/fixtures and on files written by numpy.
#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::quantize_test {
namespace {

namespace fs = std::filesystem;

const std::string kActivations =
    std::string(EQUARX_FIXTURES_DIR) + "/activations/layer1_ranks8_tokens32.npy";
/// Debian's Python, which has numpy; PATH may contain another.
const std::string kPython = "/usr/bin/python3";

/// Reads a .npy file of version 1.0 and type float32.
std::vector<float> npy_values(const std::string& path) {
  constexpr std::size_t kLengthAt = 8;
  constexpr std::size_t kHeaderAt = 10;
  const std::string bytes = content_of(path);
  REQUIRE(bytes.size() > kHeaderAt);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[kLengthAt + i]); };
  const std::size_t data = kHeaderAt + byte(0) + 256U * byte(1);
  std::vector<float> values((bytes.size() - data) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + data, values.size() * sizeof(float));
  return values;
}

/// Returns the number in a row of the table.
double number_of(const std::string& table, const std::string& row) {
  const std::size_t at = table.find("\n  " + row + " ");
  CAPTURE(table, row);
  REQUIRE(("\n" + table).find("\n  " + row + " ") != std::string::npos);
  return std::stod(table.substr(at == std::string::npos ? row.size() + 3 : at + row.size() + 4));
}

/// Independent implementation of int8 in contiguous blocks with FP32 amax scales.
std::vector<float> int8_blocks(const std::vector<float>& values, std::size_t block) {
  std::vector<float> decoded;
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    const std::size_t end = std::min(values.size(), begin + block);
    float amax = 0.0F;
    for (std::size_t i = begin; i < end; ++i) amax = std::max(amax, std::abs(values[i]));
    for (std::size_t i = begin; i < end; ++i)
      decoded.push_back(std::nearbyint(values[i] / (amax / 127.0F)) * (amax / 127.0F));
  }
  return decoded;
}

double mse_of(const std::vector<float>& values, const std::vector<float>& exact) {
  double sum = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    sum += std::pow(double{values[i]} - double{exact[i]}, 2);
  return sum / static_cast<double>(exact.size());
}

TEST_CASE("quantize reports the error of an independent implementation") {
  const std::vector<float> values = npy_values(kActivations);
  for (const std::size_t block : {32U, 100U, 512U}) {
    const std::string table =
        output_of(equarx_sim({"quantize", kActivations, "--format", "int8", "--layout",
                              "contiguous", "--block", std::to_string(block)}));
    const double mse = mse_of(int8_blocks(values, block), values);
    CHECK(number_of(table, "MSE") == Approx(mse).epsilon(1e-3));
    CHECK(number_of(table, "elements") == 131072);
    CHECK_THAT(table, ContainsSubstring("(8 x 32 x 512)"));
  }
}

TEST_CASE("quantize on the activations matches figures computed with numpy") {
  // tests/fixtures/activations/README.md
  const auto sqnr = [](const std::vector<std::string>& options) {
    std::vector<std::string> command = {"quantize", kActivations};
    command.insert(command.end(), options.begin(), options.end());
    return number_of(output_of(equarx_sim(command)), "SQNR");
  };
  const auto blocks = [&](const std::string& block) {
    return sqnr({"--layout", "contiguous", "--block", block});
  };
  CHECK(sqnr({"--elements-per-scale", "16"}) == Approx(45.3).margin(0.06));
  CHECK(blocks("32") == Approx(42.6).margin(0.06));
  CHECK(blocks("128") == Approx(37.9).margin(0.06));
  CHECK(blocks("512") == Approx(33.2).margin(0.06));
  CHECK(blocks("4096") == Approx(28.3).margin(0.06));
}

TEST_CASE("quantize rounds powers of two as chosen") {
  const auto table = [](const std::string& format, const std::string& rounding) {
    return output_of(
        equarx_sim({"quantize", kActivations, "--format", format, "--scale-rounding", rounding}));
  };
  for (const std::string format : {"mxfp8-e4m3", "mxfp4"}) {
    const std::string plain = output_of(equarx_sim({"quantize", kActivations, "--format", format}));
    CHECK(table(format, "floor") == plain);
    CHECK(number_of(plain, "clipped") > 0.0);
    CHECK(number_of(table(format, "even"), "clipped") < number_of(plain, "clipped"));
    CHECK(number_of(table(format, "up"), "clipped") == 0.0);
  }
  const CommandResult result =
      equarx_sim({"quantize", kActivations, "--format", "mxint8", "--scale-rounding", "even"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err,
             ContainsSubstring("--scale-rounding") && ContainsSubstring("use \"floor\" or \"up\""));
}

TEST_CASE("quantize supports every format and writes the dequantized tensor") {
  const TemporaryDirectory directory;
  const std::vector<float> exact = npy_values(kActivations);
  for (const std::string format :
       {"fp32", "bf16", "fp16", "int8", "int6", "int4", "fp8-e4m3", "fp8-e5m2", "fp8-e4m3fnuz",
        "fp8-e5m2fnuz", "mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4", "mxint8",
        "nvfp4", "nvfp4-block"}) {
    CAPTURE(format);
    const std::string output = (directory.path() / (format + ".npy")).string();
    const std::string table =
        output_of(equarx_sim({"quantize", kActivations, "--format", format, "-o", output}));
    const std::vector<float> values = npy_values(output);
    REQUIRE(values.size() == exact.size());
    CHECK(number_of(table, "MSE") == Approx(mse_of(values, exact)).epsilon(1e-3).margin(1e-300));
  }
  CHECK(npy_values((directory.path() / "fp32.npy").string()) == exact);
}

// --- With numpy

/// Runs Python with one argument and returns its output; fails the test on errors.
std::string python(const std::string& script, const std::string& argument) {
  const CommandResult result = run_command({kPython, "-c", script, argument});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

bool has_numpy() {
  if (!fs::exists(kPython) || run_command({kPython, "-c", "import numpy"}).exit_code != 0) {
    WARN("no numpy for " << kPython << ": skipped");
    return false;
  }
  return true;
}

TEST_CASE("quantize and numpy read each other's files") {
  if (!has_numpy()) return;
  const TemporaryDirectory directory;
  const std::string folder = directory.path().string();
  python(R"(if True:
    import sys, os, numpy as np
    os.chdir(sys.argv[1])
    x = np.random.default_rng(1).standard_t(3, (3, 7, 500)).astype(np.float32)
    np.save('f4.npy', x)
    np.save('f2.npy', x.astype(np.float16))
    np.save('bf16.npy', (x.view(np.uint32) >> 16).astype(np.uint16))
    np.save('big_endian.npy', x.astype('>f4'))
    np.save('f8.npy', x.astype(np.float64))
    np.save('fortran.npy', np.asfortranarray(x))
    np.save('scalar.npy', np.float32(3))
    np.save('none.npy', np.zeros((3, 0), np.float32))
    np.save('object.npy', np.array([{}, None]), allow_pickle=True))",
         folder);
  std::string tables;
  for (const std::string name : {"f4", "f2", "bf16"})
    for (const std::string format : {"int8", "int4", "mxfp4", "bf16"}) {
      const std::string in = folder + "/" + name + ".npy";
      const std::string out = folder + "/" + name + "-" + format + "-out.npy";
      std::vector<std::string> command = {"quantize", in, "--format", format, "--output", out};
      if (format == "int8")
        command.insert(command.end(), {"--layout", "contiguous", "--block", "50"});
      if (format == "int4") command.insert(command.end(), {"--elements-per-scale", "4"});
      const std::string table = output_of(equarx_sim(command));
      // Read by numpy and compared with a numpy implementation of the formats.
      const double mse = std::stod(python(R"(if True:
        import sys, numpy as np
        path = sys.argv[1]
        name, form = path.split('/')[-1].split('-')[:2]
        raw = np.load('/'.join(path.split('/')[:-1]) + '/' + name + '.npy')
        x = (raw.astype(np.uint32) << 16).view(np.float32) if name == 'bf16' else raw.astype(np.float32)
        y = np.load(path)
        assert y.dtype == np.float32 and y.shape == x.shape == (3, 7, 500) and y.flags.c_contiguous
        f = x.ravel()
        def integer(groups, most):
            z = np.empty_like(f)
            for g in groups:
                scale = np.float32(np.abs(f[g]).max()) / np.float32(most)
                z[g] = np.rint(f[g] / scale) * scale
            return z
        def mxfp4():
            values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6], np.float32)
            z = np.empty_like(f)
            for b in range(0, f.size, 32):
                block = f[b:b + 32]
                scale = np.float32(2.0 ** (np.floor(np.log2(np.abs(block).max())) - 2))
                d = np.abs(np.abs(block / scale)[:, None] - values)
                least = d == d.min(axis=1)[:, None]
                code = np.where(least.sum(axis=1) == 1, least.argmax(axis=1),
                                least.argmax(axis=1) + least.argmax(axis=1) % 2)
                z[b:b + 32] = np.copysign(values[code], block) * scale
            return z
        def bf16():
            bits = f.view(np.uint32)
            return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
        i = np.arange(f.size)
        z = {'int8': lambda: integer([i[b:b + 50] for b in range(0, f.size, 50)], 127),
             'int4': lambda: integer([g for m in range(0, f.size, 4096) for g in
                                      (i[m:m + 4096][k::1024] for k in range(1024)) if g.size], 7),
             'mxfp4': mxfp4, 'bf16': bf16}[form]()
        assert np.array_equal(y.ravel(), z), (form, np.flatnonzero(y.ravel() != z)[:9])
        print(np.mean((y.ravel().astype(float) - f.astype(float)) ** 2)))",
                                          out));
      CAPTURE(name, format, table);
      CHECK(number_of(table, "MSE") == Approx(mse).epsilon(1e-3).margin(1e-300));
    }
  for (const auto& [name, problem] : {std::pair<std::string, std::string>{"big_endian", ">f4"},
                                      {"f8", "f8"},
                                      {"fortran", "ortran"},
                                      {"scalar", "scalar.npy"},
                                      {"none", "none.npy"},
                                      {"object", "object.npy"}})
    check_refusal(equarx_sim({"quantize", folder + "/" + name + ".npy"}), problem);
}

// --- Invalid input

TEST_CASE("quantize rejects invalid files by name and writes nothing") {
  const TemporaryDirectory directory;
  const std::string good = content_of(kActivations);
  const std::vector<std::string> files = {
      "missing.npy",
      directory.path().string(),
      directory.write("text.txt", "1 2 3"),
      directory.write("empty.npy", ""),
      directory.write("truncated.npy", good.substr(0, good.size() - 1)),
      directory.write("header.npy", good.substr(0, 20)),
      directory.write("longer.npy", good + "x"),
      directory.write("no.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10)),
      directory.write("long.safetensors", std::string(8, '\xff')),
      directory.write("random.npy", std::string(1000, '\x93'))};
  const std::size_t before = file_count(directory.path());
  const std::string output = (directory.path() / "out.npy").string();
  for (const std::string& file : files)
    check_refusal(equarx_sim({"quantize", file, "--output", output}), file);
  CHECK(file_count(directory.path()) == before);
}

TEST_CASE("quantize rejects invalid options and writes nothing") {
  const TemporaryDirectory directory;
  const std::string output = (directory.path() / "out.npy").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"--format", "int9"}, "error: --format: 'int9' is not known; did you mean 'int8'?"},
      {{"--format", "7"}, "error: --format: "},
      {{"--scale", "fp64"}, "error: --scale: 'fp64' is not known"},
      {{"--layout", "tiled"}, "error: --layout: 'tiled' is not known"},
      {{"--rounding", "up"}, "error: --rounding: 'up' is not known"},
      {{"--format", "mxfp4", "--rounding", "stochastic"},
       "error: --rounding: format 'mxfp4': fp4-e2m1"},
      {{"--format", "bf16", "--scale", "fp32"}, "error: --scale: bf16 has no scales"},
      {{"--format", "mxfp4", "--elements-per-scale", "64"}, "error: --elements-per-scale: "},
      {{"--block", "32"}, "error: --block: applies to \"layout\": \"contiguous\""},
      {{"--layout", "contiguous"}, "error: --block: is missing"},
      {{"--format", "nvfp4", "--block", "0"}, "error: --block: 0 is not an integer from 1"},
      {{"--format", "nvfp4", "--block", "-1"}, "error: --block: -1 is not an integer from 1"},
      {{"--elements-per-scale", "0"}, "error: --elements-per-scale: 0 is not an integer from 1"},
      {{"--elements-per-scale", "many"}, "error: --elements-per-scale: expected an integer"},
      {{"--tensor", "x"}, kActivations + ": a .npy file holds one unnamed tensor"}};
  for (const auto& [options, problem] : mistakes) {
    std::vector<std::string> command = {"quantize", kActivations, "--output", output};
    command.insert(command.end(), options.begin(), options.end());
    check_refusal(equarx_sim(command), problem);
  }
  CHECK(file_count(directory.path()) == 0);
}

TEST_CASE("quantize reads files of stored formats, and refuses options of block formats") {
  const std::string formats = std::string(EQUARX_CONFIGS_DIR) + "/formats/";
  const std::string mxfp4 =
      output_of(equarx_sim({"quantize", kActivations, "--format", formats + "mxfp4.json"}));
  CHECK(number_of(mxfp4, "bits per element") == 4.25);
  CHECK(number_of(mxfp4, "NMSE") ==
        number_of(output_of(equarx_sim({"quantize", kActivations, "--format", "mxfp4"})), "NMSE"));
  const TemporaryDirectory directory;
  const std::string output = (directory.path() / "out.npy").string();
  const auto refuse = [&](std::vector<std::string> options, const std::string& part) {
    options.insert(options.begin(), {"quantize", kActivations, "-o", output});
    check_refusal(equarx_sim(options), part);
    CHECK(!fs::exists(output));
  };
  refuse({"--format", formats + "nf4.json", "--block", "32"}, "--block");
  refuse({"--format", formats + "nf4.json", "--importance", kActivations}, "remove it");
  refuse({"--format", formats + "squeezellm-3bit.json"}, "--importance");
  refuse({"--format", formats + "squeezellm-3bit.json", "--importance", kActivations}, "negative");
  refuse({"--format", "int8", "--importance", kActivations}, "--importance");
  refuse({"--format", formats + "none.json"}, "none.json");
  const std::string uneven = (directory.path() / "uneven.json").string();
  std::ofstream(uneven)
      << R"({"elements": {"integer": 4}, "groups": {"along": "row", "length": 7}})";
  refuse({"--format", uneven}, "groups of 7 do not divide rows of 512");
}

TEST_CASE("quantize reads inputs of the layer, and refuses them for other formats") {
  const std::string formats = std::string(EQUARX_CONFIGS_DIR) + "/formats/";
  const std::string feedback = formats + "gptq-int4-g128-feedback.json";
  const auto outputs_error = [](const std::string& format) {
    return number_of(output_of(equarx_sim(
                         {"quantize", kActivations, "--format", format, "--inputs", kActivations})),
                     "NMSE of outputs");
  };
  CHECK(outputs_error(feedback) < outputs_error(formats + "gptq-int4-g128.json") / 2);
  const TemporaryDirectory directory;
  const std::string output = (directory.path() / "out.npy").string();
  const auto refuse = [&](std::vector<std::string> options, const std::string& part) {
    options.insert(options.begin(), {"quantize", kActivations, "-o", output});
    check_refusal(equarx_sim(options), part);
    CHECK(!fs::exists(output));
  };
  refuse({"--format", feedback}, "--inputs");
  refuse({"--format", feedback, "--hessian", kActivations}, "give 512 x 512");
  refuse({"--format", feedback, "--hessian", kActivations, "--inputs", kActivations},
         "one of both");
  refuse({"--format", "int8", "--hessian", kActivations}, "--hessian");
}

TEST_CASE("quantize does not overwrite its input") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a.npy";
  const auto link = directory.path() / "link.npy";
  std::filesystem::copy_file(kActivations, file);
  std::filesystem::create_hard_link(file, link);
  for (const auto& output : {file, link})
    check_refusal(equarx_sim({"quantize", file, "-o", output}), "it is an input");
  CHECK(content_of(file) == content_of(kActivations));
}

TEST_CASE("quantize rejects an unwritable output and leaves no partial file") {
  const TemporaryDirectory directory;
  const std::string folder = directory.path().string();
  for (const std::string& output : {folder + "/out.txt", folder + "/none/out.npy", folder,
                                    std::string("/proc/out.npy"), std::string("/dev/full")})
    check_refusal(equarx_sim({"quantize", kActivations, "-o", output}), output);
  CHECK(file_count(directory.path()) == 0);
}

// --- In an experiment

TEST_CASE("an experiment runs on tensor files and rejects invalid ones with their pointer") {
  const std::vector<std::string> command = {
      "run", kExample, "--set", "/tensor={\"values\": {\"files\": [\"" + kActivations + "\"]}}"};
  CHECK_THAT(output_of(equarx_sim(command)),
             Catch::Matchers::StartsWith("AllReduce of 32 x 512 fp32 (64.00 KiB) on each of 8 x"));
  check_refusal(
      equarx_sim({"run", kExample, "--set", "/tensor={\"values\": {\"files\": [\"none.npy\"]}}"}),
      kExample + ": /tensor/values/files/0: none.npy: ");
  std::vector<std::string> wrong = command;
  wrong.insert(wrong.end(), {"--set", "/topology/slice=2x2"});
  check_refusal(equarx_sim(wrong), "/tensor/values/files: " + kActivations + " has the shape");
}

TEST_CASE("an experiment on NaN succeeds and prints valid JSON") {
  const TemporaryDirectory directory;
  std::string bytes = content_of(kActivations);
  bytes.replace(bytes.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));
  const std::string path = directory.write("nan.npy", bytes);
  const std::vector<std::string> command = {
      "run", kExample, "--verbose", "--set",
      "/tensor={\"values\": {\"files\": [\"" + path + "\"]}}"};
  CHECK_THAT(output_of(equarx_sim(command)),
             ContainsSubstring("identical") &&
                 ContainsSubstring("Warning: input of rank 7 has 1 NaN.\n") &&
                 ContainsSubstring("Warning: bf16: 1 of 16384 elements are NaN or Inf") &&
                 !ContainsSubstring("nan dB"));
  std::vector<std::string> as_json = command;
  as_json.push_back("--json");
  const std::string text = output_of(equarx_sim(as_json));
  CHECK_THAT(text, ContainsSubstring("\"nonfinite_elements\": 1,") && !ContainsSubstring("NaN") &&
                       !ContainsSubstring("\"mse\": nan"));
}

}  // namespace
TEST_CASE("attention reports the error of a KV cache in two formats") {
  const std::string layer = std::string(EQUARX_FIXTURES_DIR) + "/activations/layer0_";
  const auto attention = [&](const std::string& format) {
    return nlohmann::json::parse(output_of(
        equarx_sim({"attention", "--keys", layer + "keys.npy", "--values", layer + "values.npy",
                    "--queries", layer + "queries.npy", "--values-format", format, "--json"})));
  };
  const auto fine = attention("int8-row");
  const auto coarse = attention("int4-row128");
  CHECK(fine["tokens"] == 128);
  CHECK(fine["keys"] == coarse["keys"]);
  CHECK(coarse["values"]["output_nmse"] > 50 * fine["values"]["output_nmse"].get<double>());
  check_refusal(equarx_sim({"attention", "--keys", layer + "keys.npy"}),
                "--keys: give files of keys and of values");
  check_refusal(equarx_sim({"attention", "--spread", "-1"}), "--spread: give a finite number");
  check_refusal(equarx_sim({"attention", "--format", "squeezellm-3bit"}), "use another");
}

}  // namespace equarx::testing::quantize_test
