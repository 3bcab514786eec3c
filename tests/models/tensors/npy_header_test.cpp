#include "models/tensors/npy_header.hpp"

#include "tests/support/tensor_files.hpp"

namespace equarx::npy_header_test {
namespace {

using namespace equarx::tensors;
using namespace equarx::testing;

TensorLayout parse(const std::string& contents) {
  return read_npy_header("x.npy", bytes_of(contents));
}

std::string error_of(const std::string& contents) {
  return file_error_of([&] { parse(contents); });
}

std::string error_of_header(const std::string& header, const std::string& data = "12345678") {
  return error_of(npy(header, data));
}

std::string error_of_shape(const std::string& shape) {
  return error_of_header(npy_header("<f4", shape));
}

TEST_CASE(".npy versions 1.0 to 3.0, with data at any alignment") {
  for (const int major : {1, 2, 3}) {
    for (const std::string padding : {"", " ", "  ", "   "}) {
      const std::string header = npy_header("<f4", "(1, 2)") + padding;
      const TensorLayout layout = parse(npy(header, "12345678", major));
      CAPTURE(major, padding.size());
      CHECK(layout.type == FileType::fp32);
      CHECK(layout.shape == std::vector<std::uint64_t>{1, 2});
      CHECK(layout.elements == 2);
      CHECK(layout.offset == (major == 1 ? 10 : 12) + header.size());
    }
  }
}

TEST_CASE("supported .npy types") {
  CHECK(parse(npy(npy_header("<f2", "(4,)"), "12345678")).type == FileType::fp16);
  CHECK(parse(npy(npy_header("<u2", "(4,)"), "12345678")).type == FileType::bf16);
}

TEST_CASE("equivalent Python spellings of the .npy dictionary") {
  for (const std::string header : {
           "{'descr':'<f4','fortran_order':False,'shape':(2,)}",
           "{ \"shape\" : ( 2 , ) , \"fortran_order\" : False , \"descr\" : \"<f4\" , } \n",
           "\n\t{'shape': (2,),\n 'descr': '<f4',\r\n 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, ), }",
       }) {
    CAPTURE(header);
    CHECK(parse(npy(header, "12345678")).elements == 2);
  }
}

TEST_CASE("a truncated .npy file is refused") {
  const std::string whole = npy(npy_header("<f4", "(1, 2)"), "12345678");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_THAT(error_of(whole.substr(0, length)), ContainsSubstring("is truncated"));
  }
  CHECK_NOTHROW(parse(whole));
  CHECK(error_of(whole.substr(0, whole.size() - 1)) ==
        "x.npy: is truncated: shape (1, 2) needs 8 bytes of data, it has 7; copy or save it again");
}

TEST_CASE("data beyond the shape are refused") {
  CHECK_THAT(error_of(npy(npy_header("<f4", "(2,)"), "123456789")),
             ContainsSubstring("has 9 bytes of data, more than the 8 of its shape (2,)"));
}

TEST_CASE("files without the .npy magic are refused") {
  CHECK_THAT(error_of("PK\x03\x04 a .npz archive"), ContainsSubstring("is not a .npy file"));
  CHECK_THAT(error_of("\x93NUMPZ\x01"), ContainsSubstring("is not a .npy file"));
  CHECK_THAT(error_of(std::string(1000, '\0')), ContainsSubstring("is not a .npy file"));
}

TEST_CASE("unknown .npy versions are refused") {
  for (const auto& [major, minor] : {std::pair{0, 0}, {4, 0}, {1, 1}, {255, 255}}) {
    std::string contents = npy(npy_header("<f4", "(2,)"), "12345678");
    contents[6] = static_cast<char>(major);
    contents[7] = static_cast<char>(minor);
    CHECK_THAT(error_of(contents),
               ContainsSubstring("unsupported .npy version " + std::to_string(major) + "." +
                                 std::to_string(minor) + ";"));
  }
}

TEST_CASE("a huge .npy header is refused without being parsed") {
  const std::string prefix = std::string("\x93NUMPY\x02\x00", 8);
  CHECK_THAT(error_of(prefix + "\xff\xff\xff\xff{'descr"), ContainsSubstring("4294967295 bytes"));
  CHECK_THAT(error_of(npy(npy_header("<f4", "(2,)") + std::string(65536, ' '), "12345678", 2)),
             ContainsSubstring("more than 65536"));
  const std::string header = npy_header("<f4", "(2,)");
  CHECK_NOTHROW(parse(npy(header + std::string(65536 - header.size(), ' '), "12345678", 3)));
}

TEST_CASE("unsupported .npy types are refused with a remedy") {
  const auto error = [](const std::string& descr) {
    return error_of_header(npy_header(descr, "(2,)"));
  };
  CHECK(error(">f4") == "x.npy: is big-endian ('>f4'); save array.astype('<f4')");
  CHECK_THAT(error("<f8"), ContainsSubstring("has type '<f8', not '<f4'"));
  for (const std::string one_byte : {"|V1", "|u1", "<f1"})
    CHECK_THAT(error(one_byte), ContainsSubstring(one_byte) &&
                                    ContainsSubstring("save it as .safetensors (F8_E4M3"));
  for (const std::string type : {"<i4", "|b1", "|O", "", "f4", "<f44", "=f4", "<F4", "<c8"})
    CHECK_THAT(error(type), ContainsSubstring("has type '" + type + "'"));
  for (const std::string type : {"|V2", "<V2"})
    CHECK_THAT(error(type), ContainsSubstring("save bf16 as array.view('<u2')"));
  CHECK_THAT(error_of_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
             ContainsSubstring("holds a structured array"));
}

TEST_CASE("Fortran order is refused") {
  CHECK_THAT(error_of_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }"),
             ContainsSubstring("is in Fortran order; save numpy.ascontiguousarray(array)"));
}

TEST_CASE("invalid shapes are refused") {
  CHECK_THAT(error_of_shape("()"), ContainsSubstring("holds a single number of shape ()"));
  CHECK_THAT(error_of_shape("(0,)"), ContainsSubstring("has shape (0,) and so no elements"));
  CHECK_THAT(error_of_shape("(3, 0, 99999999999999999)"), ContainsSubstring("no elements"));
  CHECK_THAT(error_of_shape("(-2,)"), ContainsSubstring("negative dimension '-2'"));
  CHECK_THAT(error_of_shape("(-2, -1)"), ContainsSubstring("negative dimension '-2'"));
  for (const std::string shape :
       {"(2)", "2", "[2]", "(2,,)", "(,)", "(,2)", "(2 1)", "(2, x)", "(+2,)", "(2.0,)", "(2L,)",
        "(0x2,)", "'(2,)'", "None", "((2,),)", "(2,", "(2", "(", ""})
    CHECK_THAT(error_of_shape(shape), ContainsSubstring("malformed .npy header"));
}

TEST_CASE("shapes whose product overflows are refused") {
  CHECK_THAT(error_of_shape("(18446744073709551616,)"),
             ContainsSubstring("has the dimension '18446744073709551616', more than"));
  CHECK_THAT(error_of_shape("(4294967296, 4294967296)"),  // 2^64 is 0 in 64 bits
             ContainsSubstring("more elements than can be addressed"));
  CHECK_THAT(error_of_shape("(9223372036854775809, 2)"),  // 2 in 64 bits
             ContainsSubstring("more elements than can be addressed"));
  CHECK_THAT(error_of_shape("(4611686018427387906,)"),  // 8 bytes in 64 bits
             ContainsSubstring("more elements than can be addressed"));
  CHECK_THAT(error_of_shape("(2305843009213693951,)"), ContainsSubstring("is truncated"));
}

TEST_CASE("at most 64 dimensions") {
  const auto ones = [](int count) {
    std::string shape = "(";
    for (int i = 0; i < count; ++i) shape += "1, ";
    return shape + "2)";
  };
  CHECK(parse(npy(npy_header("<f4", ones(63)), "12345678")).shape.size() == 64);
  CHECK_THAT(error_of_shape(ones(64)), ContainsSubstring("more than 64 dimensions"));
  CHECK_THAT(error_of_shape(ones(15000)), ContainsSubstring("more than 64 dimensions"));
}

TEST_CASE("malformed .npy dictionaries are refused") {
  const std::string fortran = "'fortran_order': False, ";
  const std::string shape = "'shape': (2,), ";
  const std::string descr = "'descr': '<f4', ";
  for (const std::string& header : std::vector<std::string>{
           std::string(),
           "\n",
           "[",
           "{",
           "{}",
           "{" + descr + fortran + "}",
           "{" + descr + shape + "}",
           "{" + fortran + shape + "}",
           "{" + descr + fortran + shape,
           "{" + descr + fortran + shape + "'extra': 1}",
           "{" + descr + fortran + shape + "} x",
           "{" + descr + fortran + shape + "}" + std::string(1, '\0'),
           "{,}" + descr,
           "{" + descr + "," + fortran + shape + "}",
           "{" + descr + "'fortran_order': 0, " + shape + "}",
           "{" + descr + "'fortran_order': Falsey, " + shape + "}",
           "{" + descr + "'fortran_order': , " + shape + "}",
           "{" + descr + "'fortran_order': ",
           "{" + descr + "'shape'",
           "{'descr': '<f4" + fortran + shape + "}",
           "{'descr': <f4, " + fortran + shape + "}",
           "{'descr': '<f\\x34', " + fortran + shape + "}",
           "{descr: '<f4', " + fortran + shape + "}",
           "{'descr' '<f4', " + fortran + shape + "}",
           "{'descr'}",
           "{'",
           "'",
           "{{{{{{{{{{",
       }) {
    CAPTURE(header);
    CHECK_THAT(error_of_header(header), ContainsSubstring("malformed .npy header"));
  }
}

TEST_CASE("duplicate keys in a .npy header are refused") {
  for (const std::string again : {"'descr': '<f4'", "'fortran_order': False", "'shape': (2,)"}) {
    const std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), " + again + "}";
    CHECK_THAT(error_of_header(header), ContainsSubstring("appears twice"));
  }
}

TEST_CASE("header text in messages is short and printable") {
  CHECK_THAT(error_of_header(npy_header("\x1b[2J\n\r<f4", "(2,)")),
             ContainsSubstring("has type '?[2J??"
                               "<f4'"));
  CHECK_THAT(error_of_header("{'" + std::string(60000, '\x9b') + "': 1}"),
             ContainsSubstring("unknown key '????"));
}

}  // namespace
}  // namespace equarx::npy_header_test
