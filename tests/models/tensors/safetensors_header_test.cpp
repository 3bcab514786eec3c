#include "models/tensors/safetensors_header.hpp"

#include <fmt/format.h>

#include "tests/support/tensor_files.hpp"

namespace equarx::safetensors_header_test {
namespace {

using namespace equarx::tensors;
using namespace equarx::testing;
using namespace std::string_literals;

using Name = std::optional<std::string_view>;

TensorLayout parse(const std::string& contents, Name name = std::nullopt) {
  return read_safetensors_header("x.safetensors", bytes_of(contents), name);
}

std::string error_of(const std::string& contents, Name name = std::nullopt) {
  return file_error_of([&] { parse(contents, name); });
}

std::string error_of_header(const std::string& header, Name name = std::nullopt) {
  return error_of(safetensors(header, "12345678"), name);
}

std::string error_of_shape(const std::string& shape) {
  return error_of_header("{"s + safetensors_entry("a", "F32", shape, 0, 8) + "}");
}

const std::string kTwo = "{"s + safetensors_entry("b", "F16", "[2]", 4, 8) + "," +
                         safetensors_entry("a", "F32", "[1,1]", 0, 4) + "}";

TEST_CASE("a single tensor of each type needs no name") {
  const auto layout = [](const std::string& type, const std::string& shape) {
    return parse(safetensors("{"s + safetensors_entry("a", type, shape, 0, 8) + "}", "12345678"));
  };
  CHECK(layout("F32", "[2,1]").type == FileType::fp32);
  CHECK(layout("F16", "[4]").type == FileType::fp16);
  CHECK(layout("BF16", "[1,4]").type == FileType::bf16);
  CHECK(layout("F8_E4M3", "[8]").type == FileType::fp8_e4m3);
  CHECK(layout("F8_E5M2", "[2,4]").type == FileType::fp8_e5m2);
  CHECK(layout("F32", "[2,1]").shape == std::vector<std::uint64_t>{2, 1});
  CHECK(layout("F32", "[2,1]").elements == 2);
}

TEST_CASE("a tensor is selected by name") {
  const std::string file = safetensors(kTwo, "12345678");
  CHECK(parse(file, "a").offset == 8 + kTwo.size());
  CHECK(parse(file, "b").offset == 8 + kTwo.size() + 4);
  CHECK(parse(file, "b").type == FileType::fp16);
  CHECK(error_of(file) == "x.safetensors: holds 2 tensors ('a', 'b'); name one of them");
  CHECK(error_of(file, "c") == "x.safetensors: has no tensor 'c'; it has 'a', 'b'");
  CHECK_THAT(error_of(file, ""), ContainsSubstring("has no tensor ''"));
}

TEST_CASE("metadata, spaces and escapes of common writers are accepted") {
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\",\"path\":\"\\u001b\"}, " +
                             safetensors_entry("\\u0061\\\"", "F32", "[2]", 0, 8) + "}      ";
  CHECK(parse(safetensors(header, "12345678"), "a\"").elements == 2);
  CHECK_THAT(error_of(safetensors("{\"__metadata__\":{}}", "")),
             ContainsSubstring("holds no tensor"));
}

TEST_CASE("other tensors of the file may have unsupported types") {
  const std::string header = "{"s + safetensors_entry("i", "I64", "[1]", 0, 8) + "," +
                             safetensors_entry("none", "F32", "[0]", 8, 8) + "," +
                             safetensors_entry("one", "U8", "[]", 8, 9) + "," +
                             safetensors_entry("a", "F32", "[1]", 9, 13) + "}";
  const std::string file = safetensors(header, "1234567812345");
  CHECK(parse(file, "a").offset == 8 + header.size() + 9);
  CHECK_THAT(error_of(file, "i"), ContainsSubstring("tensor 'i' has type 'I64', not F32"));
  CHECK_THAT(error_of(file, "none"), ContainsSubstring("has shape (0,) and so no elements"));
}

TEST_CASE("a scalar is refused") {
  CHECK_THAT(error_of(safetensors("{"s + safetensors_entry("a", "F32", "[]", 0, 4) + "}", "1234")),
             ContainsSubstring("holds a single number"));
}

TEST_CASE("a truncated .safetensors file is refused") {
  const std::string whole = safetensors(kTwo, "12345678");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_THAT(error_of(whole.substr(0, length), "a"), ContainsSubstring("truncated"));
  }
  CHECK_NOTHROW(parse(whole, "a"));
}

TEST_CASE("a huge .safetensors header is refused without being parsed") {
  CHECK_THAT(error_of("\xff\xff\xff\xff\xff\xff\xff\xff{\"a\":"),
             ContainsSubstring("its header would have 18446744073709551615 bytes"));
  CHECK_THAT(error_of(little_endian(100'000'001, 8) + "{}"),
             ContainsSubstring("more than 100000000"));
  CHECK_THAT(error_of(little_endian(100'000'000, 8) + "{}"), ContainsSubstring("truncated"));
}

TEST_CASE("headers that are not a JSON object of objects are refused") {
  for (const std::string header : {
           "",
           "\xef\xbb\xbf{}",
           " {}",
           "[]",
           "\"a\"",
           "null",
           "{",
           "{\"a\"",
           "{\"a\":",
           "{} {}",
           "{}x",
           "{\"a\":1}",
           "{\"a\":[]}",
           "{\"a\":\"F32\"}",
           "{\"a\":null}",
           "{\"a\":true}",
           "{'a':{}}",
           "{\"a\":{}}",
           "{\"__metadata__\":1}",
           "{\"__metadata__\":[\"a\"]}",
           "{\"__metadata__\":{\"a\":1}}",
           "{\"__metadata__\":{\"a\":{}}}",
           "{\"__metadata__\":{\"a\":[]}}",
           "{\"\xff\":{}}",
           "{\"a\":{\"dtype\":\"\x01\"}}",
       }) {
    CAPTURE(header);
    CHECK_THAT(error_of_header(header), ContainsSubstring("malformed safetensors header"));
  }
  CHECK_THAT(error_of_header("{\"a\":{]"), ContainsSubstring("not JSON at byte 7"));
}

TEST_CASE("a zero byte in a header is refused") {
  const std::string entry = safetensors_entry("a", "F32", "[2]", 0, 8);
  CHECK_THAT(error_of_header("{"s + entry + "}" + '\0' + "{"), ContainsSubstring("zero byte"));
}

TEST_CASE("missing, unknown or mistyped tensor fields are refused") {
  const std::string type = "\"dtype\":\"F32\"";
  const std::string shape = "\"shape\":[2]";
  const std::string offsets = "\"data_offsets\":[0,8]";
  const auto header = [](const std::string& one, const std::string& two, const std::string& three) {
    return "{\"a\":{" + one + "," + two + "," + three + "}}";
  };
  REQUIRE_NOTHROW(parse(safetensors(header(type, shape, offsets), "12345678")));
  for (const std::string& bad : std::vector<std::string>{
           "{\"a\":{" + type + "," + shape + "}}",
           "{\"a\":{" + type + "," + offsets + "}}",
           "{\"a\":{" + shape + "," + offsets + "}}",
           "{\"a\":{" + type + "," + shape + "," + offsets + ",\"x\":1}}",
           header("\"dtype\":1", shape, offsets),
           header("\"dtype\":[\"F32\"]", shape, offsets),
           header("\"dtype\":{}", shape, offsets),
           header("\"dtype\":null", shape, offsets),
           header(type, "\"shape\":2", offsets),
           header(type, "\"shape\":\"2\"", offsets),
           header(type, "\"shape\":{}", offsets),
           header(type, "\"shape\":[[2]]", offsets),
           header(type, "\"shape\":[\"2\"]", offsets),
           header(type, "\"shape\":[null]", offsets),
           header(type, "\"shape\":[{}]", offsets),
           header(type, "\"shape\":[true]", offsets),
           header(type, shape, "\"data_offsets\":[]"),
           header(type, shape, "\"data_offsets\":[8]"),
           header(type, shape, "\"data_offsets\":[0,8,8]"),
           header(type, shape, "\"data_offsets\":8"),
           header(type, shape, "\"data_offsets\":[0.0,8]"),
       }) {
    CAPTURE(bad);
    CHECK_THAT(error_of_header(bad), ContainsSubstring("malformed safetensors header"));
  }
}

TEST_CASE("duplicate keys at both levels are refused") {
  const std::string a = safetensors_entry("a", "F32", "[2]", 0, 8);
  CHECK_THAT(error_of_header("{" + a + "," + a + "}", "a"),
             ContainsSubstring("key 'a' appears twice"));
  CHECK_THAT(error_of_header("{" + a + "," + safetensors_entry("b", "U8", "[0]", 8, 8) + "," +
                                 safetensors_entry("\\u0061", "U8", "[0]", 8, 8) + "}",
                             "b"),
             ContainsSubstring("key 'a' appears twice"));
  CHECK_THAT(error_of_header("{\"__metadata__\":{},\"__metadata__\":{}," + a + "}"),
             ContainsSubstring("key '__metadata__' appears twice"));
  const std::string fields = "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]";
  for (const std::string again : {"\"dtype\":\"F32\"", "\"shape\":[2]", "\"data_offsets\":[0,8]"})
    CHECK_THAT(error_of_header("{\"a\":{" + fields + "," + again + "}}"),
               ContainsSubstring("appears twice (tensor 'a')"));
}

TEST_CASE("dimensions that are negative, overflow or do not match the data are refused") {
  CHECK_THAT(error_of_shape("[-2]"), ContainsSubstring("negative number -2 (tensor 'a')"));
  CHECK_THAT(error_of_shape("[2.5]"), ContainsSubstring("number '2.5' is not a 64-bit integer"));
  CHECK_THAT(error_of_shape("[18446744073709551616]"),
             ContainsSubstring("is not a 64-bit integer"));
  CHECK_THAT(error_of_shape("[1e400]"), ContainsSubstring("not JSON"));
  CHECK_THAT(error_of_shape("[4294967296,4294967296]"),
             ContainsSubstring("more elements than can be addressed"));
  CHECK_THAT(error_of_shape("[4611686018427387906]"),
             ContainsSubstring("more elements than can be addressed"));
  CHECK_THAT(error_of_shape("[1]"), ContainsSubstring("has 8 bytes of data, but its shape (1,) "
                                                      "needs 4"));
  CHECK_THAT(error_of_shape("[3]"), ContainsSubstring("needs 12"));
  std::string ones = "[2";
  for (int i = 0; i < 63; ++i) ones += ",1";
  CHECK(parse(safetensors("{"s + safetensors_entry("a", "F32", ones + "]", 0, 8) + "}", "12345678"))
            .shape.size() == 64);
  CHECK_THAT(error_of_shape(ones + ",1]"), ContainsSubstring("more than 64 numbers in shape"));
}

TEST_CASE("offsets outside the file, reversed, overlapping or with gaps are refused") {
  const auto error = [](std::uint64_t begin, std::uint64_t end) {
    return error_of_header("{"s + safetensors_entry("a", "F32", "[1]", 0, 4) + "," +
                               safetensors_entry("b", "F32", "[1]", begin, end) + "}",
                           "a");
  };
  CHECK_THAT(error(4, 9), ContainsSubstring("tensor 'b' at bytes 4 to 9 is outside the 8 bytes"));
  CHECK_THAT(error(18446744073709551612U, 18446744073709551615U), ContainsSubstring("is outside"));
  CHECK_THAT(error(8, 4), ContainsSubstring("ends before it begins"));
  CHECK_THAT(error(18446744073709551615U, 4), ContainsSubstring("ends before it begins"));
  CHECK_THAT(error(2, 6), ContainsSubstring("overlaps"));
  CHECK_THAT(error(0, 4), ContainsSubstring("overlaps"));
  CHECK_THAT(error(5, 8), ContainsSubstring("leaves a hole after byte 4"));
  CHECK_THAT(error(4, 7), ContainsSubstring("has 8 bytes of data, but its tensors only 7"));
}

TEST_CASE("tensor names in messages are printable") {
  const std::string path = "../../etc/passwd";
  const std::string file =
      safetensors("{"s + safetensors_entry(path, "F32", "[2]", 0, 8) + "}", "12345678");
  CHECK(parse(file).elements == 2);
  CHECK(parse(file, path).elements == 2);
  CHECK_THAT(error_of(safetensors(
                 "{"s + safetensors_entry("\\u001b[2J\\n\\u0000\\u009b", "F8", "[8]", 0, 8) + "}",
                 "12345678")),
             ContainsSubstring("tensor '?[2J???"
                               "?' has type 'F8'"));
  CHECK_THAT(error_of(file, "\x1b\n"), ContainsSubstring("has no tensor '?"
                                                         "?'"));
  CHECK_THAT(
      error_of_header("{"s + safetensors_entry(std::string(100000, 'n'), "I8", "[8]", 0, 8) + "}"),
      ContainsSubstring("nnn...' has type"));
}

TEST_CASE("long lists of tensor names are truncated") {
  std::string header = "{";
  for (int i = 0; i < 10000; ++i)
    header += safetensors_entry(fmt::format("t{}", i), "F32", "[0]", 0, 0) + ",";
  header += safetensors_entry("last", "F32", "[2]", 0, 8) + "}";
  CHECK_THAT(error_of_header(header),
             ContainsSubstring("holds 10001 tensors (") && ContainsSubstring(", ...); name one"));
  CHECK(parse(safetensors(header, "12345678"), "last").elements == 2);
}

TEST_CASE("deep nesting is refused immediately") {
  CHECK_THAT(error_of_header("{\"a\":"s + std::string(1000000, '{')),
             ContainsSubstring("malformed safetensors header"));
  CHECK_THAT(error_of_header("{\"a\":{\"shape\":"s + std::string(1000000, '[')),
             ContainsSubstring("unexpected array"));
}

}  // namespace
}  // namespace equarx::safetensors_header_test
