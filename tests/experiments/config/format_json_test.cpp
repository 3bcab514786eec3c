#include "experiments/config/format_json.hpp"

#include <map>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::format_json_test {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;
using numerics::Rounding;
using numerics::ScaleFormat;
using numerics::ScaleLayout;
using numerics::ScaleRounding;
using testing::changed;
using testing::check_refused;
using testing::good_config;

/// Two collectives: an unquantized ring, and the one in `text`.
input::Json with_collective(const std::string& text) {
  input::Json json = good_config();
  json["collectives"][1] = input::parse_json(text);
  json["collectives"][1]["label"] = "x";
  return json;
}

NamedBlockFormat format_of(const std::string& collective) {
  return read_config(with_collective(collective)).collectives[1].format;
}

TEST_CASE("every format with scales is found by name") {
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    if (!named.format.scaled) continue;
    CAPTURE(named.name);
    const NamedBlockFormat format =
        format_of(R"({"algorithm": "equarx", "format": ")" + std::string(named.name) + "\"}");
    CHECK(format == named.format);
    CHECK(format.name == named.name);
  }
}

TEST_CASE("plain formats have no scales") {
  for (const std::string& name : testing::kPlainFormats) {
    const NamedBlockFormat format =
        format_of(R"({"algorithm": "ring", "format": ")" + name + "\"}");
    CHECK(format.name == name);
    CHECK(name.starts_with(numerics::name(format.element)));
    CHECK_FALSE(format.scaled);
  }
}

TEST_CASE("overrides of a named format apply, the rest keeps its defaults") {
  const BlockFormat format = format_of(R"({"algorithm": "equarx", "format": "mxfp6-e2m3",
      "scale": "bf16", "block": 64})");
  CHECK(format == BlockFormat{ElementFormat::fp6_e2m3, true, ScaleFormat::bf16,
                              ScaleLayout::contiguous, 64, Rounding::nearest});
  CHECK(format_of(R"({"algorithm": "equarx", "format": "nvfp4", "layout": "strided"})") ==
        BlockFormat{ElementFormat::fp4_e2m1, true, ScaleFormat::e4m3, ScaleLayout::strided, 0,
                    Rounding::nearest, true});
  CHECK(format_of(R"({"algorithm": "equarx", "rounding": "stochastic", "scale": "e8m0"})") ==
        BlockFormat{ElementFormat::int8, true, ScaleFormat::e8m0, ScaleLayout::strided, 0,
                    Rounding::stochastic});
  CHECK(format_of(R"({"algorithm": "ring", "format": "fp8-e5m2-cast", "rounding": "stochastic"})")
            .rounding == Rounding::stochastic);
}

TEST_CASE("the rounding of E8M0 scales is read, written, and named in labels") {
  const auto read = [](const std::string& keys) {
    input::Json json = good_config();
    json["collectives"][1] = input::parse_json("{\"algorithm\": \"equarx\", " + keys + "}");
    CHECK_NOTHROW(input::check_schema(json, "experiment"));
    return read_config(json).collectives[1];
  };
  const CollectiveConfig plain = read(R"("format": "mxfp8-e4m3")");
  CHECK(plain.format.scale_rounding == ScaleRounding::floor);
  CHECK(plain.label == "equarx mxfp8-e4m3");
  CHECK(format_json(plain.format).at("scale_rounding") == "floor");
  const CollectiveConfig up = read(R"("format": "mxfp8-e4m3", "scale_rounding": "up")");
  CHECK(up.format.scale_rounding == ScaleRounding::up);
  CHECK(up.label == "equarx mxfp8-e4m3, scales up");
  CHECK(format_json(up.format).at("scale_rounding") == "up");
  CHECK(read(R"("format": "mxfp4", "scale_rounding": "even")").label ==
        "equarx mxfp4, scales even");
  CHECK(read(R"("scale": "e8m0", "scale_rounding": "up")").label == "equarx int8, scales up");
  CHECK_FALSE(format_json(read(R"("format": "int8")").format).contains("scale_rounding"));
}

TEST_CASE("formats of QuickReduce are fixed") {
  const std::string format = R"({"algorithm": "quickreduce", "format": "quickreduce-int4")";
  const NamedBlockFormat plain = format_of(format + "}");
  CHECK(plain.rule == numerics::ScaleRule::quickreduce);
  CHECK(format_json(plain) == input::Json{{"format", "quickreduce-int4"}});
  for (const auto& [key, value] : {std::pair{"scale", "\"fp16\""},
                                   {"layout", "\"contiguous\""},
                                   {"block", "32"},
                                   {"rounding", "\"nearest\""}}) {
    const std::string chosen = format + ", \"" + key + "\": " + value + "}";
    check_refused([&] { format_of(chosen); }, std::string("/collectives/1/") + key,
                  "follows its published code");
  }
}

TEST_CASE("formats of ZeRO++ and SDP4Bit are fixed, except the block length") {
  for (const auto& [name, block] : {std::pair{"zeropp-int4", 2048},
                                    {"zeropp-int8", 2048},
                                    {"sdp4bit-int4", 128},
                                    {"sdp4bit-int8", 128}}) {
    const std::string format = std::string(R"({"algorithm": "equarx", "format": ")") + name + "\"";
    CHECK(format_json(format_of(format + "}")) == input::Json{{"format", name}, {"block", block}});
    const NamedBlockFormat chosen = format_of(format + R"(, "block": 512})");
    CHECK(chosen.block == 512);
    CHECK(format_json(chosen) == input::Json{{"format", name}, {"block", 512}});
    for (const std::string wrong :
         {R"("scale": "fp32")", R"("layout": "strided")", R"("rounding": "nearest")"}) {
      const std::string key = wrong.substr(1, wrong.find('"', 1) - 1);
      check_refused([&] { format_of(format + ", " + wrong + "}"); }, "/collectives/1/" + key,
                    R"(only its "block" can be chosen)");
    }
    check_refused([&] { format_of(format + R"(, "block": 0})"); }, "/collectives/1/block",
                  "from 1");
  }
}

TEST_CASE("formats with a scale shared by all ranks are fixed, except FP8-LM's factor") {
  using numerics::Mu;
  const std::string format = R"({"algorithm": "ring", "format": "fp8lm-e4m3")";
  CHECK(format_of(format + "}").rule == numerics::ScaleRule::fp8lm);
  CHECK(format_of(format + "}").mu == Mu{});
  CHECK(format_json(format_of(format + "}")) ==
        input::Json{{"format", "fp8lm-e4m3"}, {"mu", "root"}});
  for (const auto& [text, mu] : {std::pair{R"("root")", Mu{}},
                                 {R"("pre-scaling")", Mu{.of = Mu::Of::pre_scaling}},
                                 {R"("post-scaling")", Mu{.of = Mu::Of::post_scaling}},
                                 {"0.125", Mu{.of = Mu::Of::value, .value = 0.125F}}}) {
    const NamedBlockFormat read = format_of(format + ", \"mu\": " + text + "}");
    CHECK(read.mu == mu);
    CHECK(format_json(read).at("mu") == input::parse_json(text));
  }
  for (const std::string wrong : {"0", "-1", "1e60", "true", R"("most")", "[1]"}) {
    const std::string chosen = format + ", \"mu\": " + wrong + "}";
    check_refused([&] { format_of(chosen); }, "/collectives/1/mu", "pre-scaling");
  }
  check_refused([&] { format_of(format + R"(, "rounding": "stochastic"})"); },
                "/collectives/1/rounding", "follows its published code");
  for (const std::string other : {"bf16", "global-qsgd-int8", "global-qsgd-exp8"}) {
    const std::string mu = R"({"algorithm": "ring", "mu": 1, "format": ")" + other + "\"}";
    check_refused([&] { format_of(mu); }, "/collectives/1/mu", "");
  }
}

TEST_CASE("a scale shared by all ranks is refused for algorithms that rescale") {
  for (const std::string wrong : {R"({"algorithm": "equarx", "format": "fp8lm-e4m3"})",
                                  R"({"algorithm": "torus", "format": "fp8lm-e5m2", "block": 32})",
                                  R"({"algorithm": "two-shot", "format": "global-qsgd-int8",
                                      "quantize": "both"})"})
    check_refused([&] { format_of(wrong); }, "/collectives/1/format", "one scale for all ranks");
}

TEST_CASE("a format survives a round trip") {
  std::vector<std::string> collectives;
  for (const numerics::NamedFormat& named : numerics::named_formats())
    if (named.format.scaled)
      for (const std::string more :
           {R"()", R"(, "scale": "fp32")", R"(, "scale": "bf16")", R"(, "scale": "e8m0")",
            R"(, "scale": "e8m0", "scale_rounding": "up")",
            R"(, "scale": "e4m3", "layout": "contiguous", "block": 7)",
            R"(, "layout": "strided")"}) {
        const bool published = named.format.rule != numerics::ScaleRule::amax;
        if (published && !more.empty()) continue;  // refused
        const bool has_scale = more.find("\"scale\"") != std::string::npos;
        const bool e4m3 = more.find("e4m3") != std::string::npos;
        if (named.format.tensor_scale && has_scale && !e4m3) continue;  // refused
        collectives.push_back(R"({"algorithm": "equarx", "format": ")" + std::string(named.name) +
                              "\"" + more + "}");
      }
  for (const std::string name :
       {"int8", "fp8-e4m3", "fp8-e5m2", "fp8-e4m3fnuz", "fp8-e5m2fnuz", "mxfp8-e4m3", "mxfp8-e5m2"})
    collectives.push_back(R"({"algorithm": "equarx", "rounding": "stochastic", "format": ")" +
                          name + "\"}");
  for (const std::string name : {"mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4"})
    collectives.push_back(R"({"algorithm": "equarx", "scale_rounding": "even", "format": ")" +
                          name + "\"}");
  for (const std::string& name : testing::kPlainFormats)
    collectives.push_back(R"({"algorithm": "ring", "format": ")" + name + "\"}");
  for (const std::string& collective : collectives) {
    CAPTURE(collective);
    const input::Json json = with_collective(collective);
    const ExperimentConfig config = read_config(json);
    const input::Json written = to_json(config);
    const NamedBlockFormat again = read_config(written).collectives[1].format;
    CHECK(again == config.collectives[1].format);
    CHECK(again.name == config.collectives[1].format.name);
    CHECK(to_json(read_config(written)) == written);
    CHECK_NOTHROW(input::check_schema(json, "experiment"));
    CHECK_NOTHROW(input::check_schema(written, "experiment"));
  }
}

TEST_CASE("keys that do not apply to a format are refused") {
  struct Mistake {
    std::string collective;
    std::string key;
    std::string remedy;
  };
  std::vector<Mistake> mistakes = {
      {R"("algorithm": "equarx", "format": "fp16")", "format", "is not quantized"},
      {R"("algorithm": "equarx", "format": "fp32")", "format", "use \"algorithm\": \"ring\""},
      {R"("algorithm": "equarx", "format": "mxfp5")", "format", "did you mean 'mxfp4'?"},
      {R"("algorithm": "equarx", "format": "INT8")", "format", "did you mean 'int8'?"},
      {R"("algorithm": "equarx", "format": "fp4-e2m1")", "format", "is not known"},
      {R"("algorithm": "equarx", "format": "")", "format", "is not known"},
      {R"("algorithm": "equarx", "format": 8)", "format", "expected"},
      {R"("algorithm": "ring", "format": "int8")", "format",
       "'int8' has scales, and this collective has none; use \"algorithm\": \"equarx\", or "
       "\"int8-cast\" casts each value without a scale"},
      {R"("algorithm": "ring", "format": "int4")", "format", "use \"algorithm\": \"equarx\""},
      {R"("algorithm": "ring", "format": "fp8-e4m3fnuz")", "format",
       "\"fp8-e4m3fnuz-cast\" casts each value without a scale"},
      {R"("algorithm": "ring", "format": "int6-cast")", "format", "is not known"},
      {R"("algorithm": "ring", "format": "nvfp4")", "format", "has scales"},
      {R"("algorithm": "ring", "format": "fp4")", "format", "is not known"},
      {R"("algorithm": "ring", "format": "int7")", "format", "did you mean 'int8'?"},
      {R"("algorithm": "torus", "format": "mxfp5")", "format",
       "did you mean 'mxfp4'? (with scales: int8, int6, int4, fp8-e4m3, "},
      {R"("algorithm": "two-shot", "format": "abacus")", "format", "; without: bf16, fp32, fp16, "},
      {R"("algorithm": "equarx", "format": "int8-cast")", "format", "is not known"},
      {R"("algorithm": "ring", "block": 32)", "block", "ring has no scales"},
      {R"("algorithm": "ring", "layout": "strided")", "layout", "remove it"},
      {R"("algorithm": "equarx", "scale": "fp16")", "scale", "one of fp32, bf16, e8m0, e4m3"},
      {R"("algorithm": "equarx", "scale": 4)", "scale", "expected"},
      {R"("algorithm": "equarx", "rounding": "up")", "rounding", "one of nearest, stochastic"},
      {R"("algorithm": "equarx", "format": "mxfp4", "scale_rounding": "ceil")", "scale_rounding",
       "one of floor, up, even"},
      {R"("algorithm": "equarx", "format": "mxfp4", "scale_rounding": 1)", "scale_rounding",
       "expected"},
      {R"("algorithm": "equarx", "scale_rounding": "up")", "scale_rounding",
       "is for e8m0 scales, and 'int8' has fp32 scales here; use \"scale\": \"e8m0\""},
      {R"("algorithm": "two-shot", "scale_rounding": "floor")", "scale_rounding",
       "'int8' has fp32"},
      {R"("algorithm": "equarx", "format": "mxfp4", "scale": "bf16", "scale_rounding": "floor")",
       "scale_rounding", "'mxfp4' has bf16 scales here"},
      {R"("algorithm": "equarx", "format": "nvfp4", "scale_rounding": "up")", "scale_rounding",
       "'nvfp4' has e4m3 scales here"},
      {R"("algorithm": "equarx", "format": "mxint8", "scale_rounding": "even")", "scale_rounding",
       "mxint8 has no mantissa to round amax to, so its scales are not rounded to even; use "
       "\"floor\" or \"up\""},
      {R"("algorithm": "equarx", "scale": "e8m0", "scale_rounding": "even")", "scale_rounding",
       "int8 has no mantissa"},
      {R"("algorithm": "equarx", "format": "zeropp-int8", "scale_rounding": "up")",
       "scale_rounding", "follows its published code"},
      {R"("algorithm": "ring", "scale_rounding": "up")", "scale_rounding", "ring has no scales"},
      {R"("algorithm": "equarx", "format": "mxfp4", "block": 0)", "block", "from 1"},
      {R"("algorithm": "equarx", "format": "mxfp4", "block": -32)", "block", "from 1"},
      {R"("algorithm": "equarx", "format": "mxfp4", "block": 1e300)", "block", "from 1"},
      {R"("algorithm": "equarx", "format": "mxfp4", "layout": "strided", "block": 32)", "block",
       "contiguous"},
      {R"("algorithm": "equarx", "format": "int4", "block": 32)", "block", "contiguous"},
      {R"("algorithm": "equarx", "format": "nvfp4", "scale": "fp32")", "scale",
       "use \"nvfp4-block\""},
      {R"("algorithm": "equarx", "format": "int4", "layout": "contiguous")", "block",
       "is missing"}};
  for (const std::string name :
       {"int6", "int4", "mxint8", "mxfp4", "mxfp6-e2m3", "mxfp6-e3m2", "nvfp4"})
    mistakes.push_back(
        {R"("algorithm": "equarx", "rounding": "stochastic", "format": ")" + name + "\"",
         "rounding", "is not supported; use int8 or FP8"});
  for (const std::string name : {"fp32", "bf16", "fp16"})
    mistakes.push_back(
        {R"("algorithm": "ring", "rounding": "stochastic", "format": ")" + name + "\"", "rounding",
         name + " with stochastic rounding is not supported; use int8 or FP8"});
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.collective);
    check_refused([&] { format_of("{" + mistake.collective + "}"); },
                  "/collectives/1/" + mistake.key, mistake.remedy);
  }
}

TEST_CASE("the schema refuses names unknown to the reader") {
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"format", "int9"},
                                   {"format", "fp4-e2m1"},
                                   {"scale", "e5m2"},
                                   {"layout", "tiled"},
                                   {"rounding", "up"},
                                   {"scale_rounding", "nearest"},
                                   {"block", "0"},
                                   {"block", "\"32\""}}) {
    CAPTURE(key, value);
    const input::Json json = changed("/collectives/1/" + key, value);
    CHECK_THROWS_AS(input::check_schema(json, "experiment"), input::InputError);
    CHECK_THROWS_AS(read_config(json), input::InputError);
  }
}

}  // namespace
}  // namespace equarx::config::format_json_test
