#include "importers/chakra/file.hpp"

#include <string>
#include <string_view>

#include "base/exceptions/exceptions.hpp"
#include "tests/catch.hpp"

namespace equarx::chakra::file_test {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

/// A message preceded by its length, which is below 128.
std::string message(const std::string& body) {
  return bytes({static_cast<int>(body.size())}) + body;
}

/// A field tag (number and wire type) as a varint.
std::string tag(int number, int wire_type) {
  const int value = number << 3 | wire_type;
  return value < 128 ? bytes({value}) : bytes({(value & 127) | 128, value >> 7});
}

/// A length-delimited field: string, bytes or message.
std::string field(int number, const std::string& body) {
  return tag(number, 2) + bytes({static_cast<int>(body.size())}) + body;
}

/// A varint field with a value below 128.
std::string field(int number, int value) { return tag(number, 0) + bytes({value}); }

/// An attribute with the given value field.
std::string attribute(const std::string& name, const std::string& value) {
  return field(10, field(1, name) + value);
}

const std::string kHeader = message(field(1, "0.0.4"));

Node node(const std::string& body) { return read_trace(kHeader + message(body)).nodes.at(0); }

TEST_CASE("fields follow Chakra's schema byte by byte") {
  const Node read =
      node(field(1, 7) + field(2, "sum") + field(3, 7) + field(4, 3) + field(4, 3) + field(5, 5) +
           field(5, 3) + field(7, 100) + attribute("comm_type", field(9, 7)) +
           attribute("comm_size", field(13, 64)) + attribute("pg_name", field(29, "2")) +
           attribute("involved_dim", field(28, field(1, 1) + field(1, 0))));
  CHECK(read.id == 7);
  CHECK(read.name == "sum");
  CHECK(read.kind == NodeKind::collective);
  CHECK(read.after == std::vector<std::uint64_t>{3, 5});
  CHECK(read.duration_s == Approx(100e-6));
  CHECK(read.collective == CollectiveKind::reduce_scatter);
  CHECK(read.bytes == 64.0);
  CHECK(read.group == "2");
  CHECK(read.dimensions == std::vector<bool>{true, false});
  CHECK(read_trace(kHeader).version == "0.0.4");
}

TEST_CASE("numbers of any wire type and packed lists are accepted") {
  const std::string twelve("\x0c\0\0\0\0\0\0\0", 8);
  const std::string real("\0\0\0\0\0\0\x28\x40", 8);
  for (const std::string& value :
       {field(7, 12), field(9, 12), field(11, 12), field(13, 12), field(15, 24), field(17, 24),
        tag(19, 5) + twelve.substr(0, 4), tag(21, 1) + twelve, tag(23, 5) + twelve.substr(0, 4),
        tag(25, 1) + twelve, tag(3, 1) + real, tag(5, 5) + std::string("\0\0\x40\x41", 4)})
    CHECK(node(field(3, 4) + attribute("num_ops", value)).operations == 12.0);
  CHECK(node(field(5, bytes({4, 9}))).after == std::vector<std::uint64_t>{4, 9});
}

TEST_CASE("unknown fields are skipped, and newer node kinds are invalid") {
  const Node read = node(field(3, 9) + field(11, "storage") + attribute("rf_id", field(9, 3)) +
                         attribute("odd", field(30, "list")));
  CHECK(read.kind == NodeKind::invalid);
  CHECK(read == Node{});
}

TEST_CASE("a written trace reads back unchanged") {
  Trace trace{.version = "0.0.4", .nodes = {}};
  trace.nodes.push_back({.id = 0, .name = "a", .kind = NodeKind::compute, .duration_s = 3e-6});
  trace.nodes.back().operations = 1e15;
  trace.nodes.back().bytes = 3e10;
  trace.nodes.push_back({.id = 300, .name = std::string(1000, 'b'), .kind = NodeKind::collective});
  trace.nodes.back().after = {0};
  trace.nodes.back().bytes = 1 << 30;
  trace.nodes.back().collective = CollectiveKind::all_to_all;
  trace.nodes.back().group = "12";
  trace.nodes.back().dimensions = {false, true};
  trace.nodes.push_back({.id = 301, .kind = NodeKind::load, .after = {0, 300}});
  trace.nodes.back().bytes = 5.0;
  trace.nodes.push_back({.id = 302, .kind = NodeKind::metadata, .on_host = true});
  trace.nodes.back().inputs = "[]";
  CHECK(read_trace(write_trace(trace)) == trace);
}

TEST_CASE("durations are whole microseconds, at least one") {
  Trace trace;
  trace.nodes.push_back({.kind = NodeKind::compute, .duration_s = 1e-9});
  CHECK(read_trace(write_trace(trace)).nodes[0].duration_s == Approx(1e-6));
}

void refused(const std::string& text, const std::string& part) {
  CHECK_THROWS_WITH(read_trace(text), ContainsSubstring(part));
  CHECK_THROWS_AS(read_trace(text), exceptions::UserError);
}

TEST_CASE("invalid bytes are refused with their position") {
  refused("", "is empty");
  refused(kHeader + bytes({20, 1}), "ends within the message at byte 8");
  refused(kHeader.substr(0, 4), "ends within the message at byte 0");
  refused(kHeader + message(bytes({2 << 3 | 2, 100, 'x'})), "invalid node at byte 8");
  refused(std::string(10, '\xff'), "invalid message length at byte 0");
  refused(kHeader + "\xff\xff\xff\xff\x0f", "ends within the message at byte 8");
  refused(kHeader + "\x80\x80\x80\x80\x08" + std::string(9, ' '),
          "invalid message length at byte 8");
  refused(kHeader + "\x81\x80\x80\x80\x10" + std::string(9, '\0'),
          "invalid message length at byte 8");
  refused(kHeader + "\x80", "ends within the message at byte 8");
  refused("HloModule jit_f", "byte 0");
  refused(kHeader + message(field(3, 7) + attribute("comm_type", field(9, 10))),
          "comm_type 10 is not a collective");
  refused(kHeader + message(field(1, 4) + field(3, 4) + attribute("num_ops", field(29, "x"))),
          "node 4: num_ops is not a number from 0");
  refused(kHeader + message(field(3, 4) + attribute("num_ops", field(15, 1))),
          "num_ops is not a number from 0");
}

}  // namespace
}  // namespace equarx::chakra::file_test
