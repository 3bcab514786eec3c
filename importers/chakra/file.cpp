#include "importers/chakra/file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/chakra/trace.pb.h"

namespace equarx::chakra {
namespace {

using exceptions::UserError;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr double kMicrosecond = 1e-6;
constexpr double kLargest = 1e18;  // sizes and counts

/// Splits a file into its length-prefixed messages. Not by delimited_message_util.h: it reports all
/// errors alike, truncates lengths to 32 bits, and needs the whole of protobuf.
class Messages {
 public:
  explicit Messages(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  bool done() const { return rest_.empty(); }
  std::size_t offset() const { return size_ - rest_.size(); }

  template <class Message>
  Message next(const char* what) {
    const std::size_t at = offset();
    const std::string_view bytes = take(length(), at);
    Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      throw invalid(what, at);
    return message;
  }

 private:
  /// Reads the length of a message: a varint of up to 10 bytes, below 2^31.
  std::size_t length() {
    constexpr std::size_t kLongest = 10;
    const std::size_t at = offset();
    const std::string_view start = rest_.substr(0, kLongest);
    CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(start.data()),
                            static_cast<int>(start.size()));
    int value = 0;
    if (!stream.ReadVarintSizeAsInt(&value))
      throw start.size() < kLongest ? truncated(at) : invalid("message length", at);
    take(static_cast<std::size_t>(stream.CurrentPosition()), at);
    return static_cast<std::size_t>(value);
  }

  std::string_view take(std::size_t bytes, std::size_t at) {
    if (bytes > rest_.size()) throw truncated(at);
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  static UserError invalid(const char* what, std::size_t at) {
    return {"", fmt::format("invalid {} at byte {}; is this a complete Chakra trace?", what, at)};
  }

  static UserError truncated(std::size_t at) {
    return {"", fmt::format("ends within the message at byte {}; is the file complete?", at)};
  }

  std::string_view rest_;
  std::size_t size_;
};

std::optional<double> number_of(const wire::Attribute& attribute) {
  switch (attribute.value_case()) {
    case wire::Attribute::kDoubleVal: return attribute.double_val();
    case wire::Attribute::kFloatVal: return attribute.float_val();
    case wire::Attribute::kInt32Val: return attribute.int32_val();
    case wire::Attribute::kInt64Val: return static_cast<double>(attribute.int64_val());
    case wire::Attribute::kUint32Val: return attribute.uint32_val();
    case wire::Attribute::kUint64Val: return static_cast<double>(attribute.uint64_val());
    case wire::Attribute::kSint32Val: return attribute.sint32_val();
    case wire::Attribute::kSint64Val: return static_cast<double>(attribute.sint64_val());
    case wire::Attribute::kFixed32Val: return attribute.fixed32_val();
    case wire::Attribute::kFixed64Val: return static_cast<double>(attribute.fixed64_val());
    case wire::Attribute::kSfixed32Val: return attribute.sfixed32_val();
    case wire::Attribute::kSfixed64Val: return static_cast<double>(attribute.sfixed64_val());
    case wire::Attribute::kBoolVal: return attribute.bool_val() ? 1.0 : 0.0;
    default: return std::nullopt;
  }
}

UserError error_in(const wire::Node& node, std::string message) {
  return {fmt::format("node {}", node.id()), std::move(message)};
}

double size_of(const wire::Attribute& attribute, const wire::Node& node) {
  const std::optional<double> number = number_of(attribute);
  if (!number || !(*number >= 0.0) || *number > kLargest)
    throw error_in(node,
                   fmt::format("{} is not a number from 0 to {}", attribute.name(), kLargest));
  return *number;
}

/// Reads a chip number or a tag.
std::uint32_t chip_of(const wire::Attribute& attribute, const wire::Node& node) {
  const double number = size_of(attribute, node);
  if (number > std::numeric_limits<std::uint32_t>::max() || number != std::floor(number))
    throw error_in(node,
                   fmt::format("{} {} is not a chip number or tag", attribute.name(), number));
  return static_cast<std::uint32_t>(number);
}

CollectiveKind collective_of(const wire::Attribute& attribute, const wire::Node& node) {
  const double number = size_of(attribute, node);
  if (number > static_cast<double>(CollectiveKind::barrier) || number != std::floor(number))
    throw error_in(node,
                   fmt::format("comm_type {} is not a collective of Chakra's schema", number));
  return static_cast<CollectiveKind>(number);
}

void read_attribute(const wire::Attribute& attribute, const wire::Node& from, Node& node) {
  const std::string& name = attribute.name();
  const bool communicates = node.kind == NodeKind::collective || node.kind == NodeKind::send ||
                            node.kind == NodeKind::receive;
  if (name == "is_cpu_op") node.on_host = size_of(attribute, from) != 0.0;
  if (name == "num_ops") node.operations = size_of(attribute, from);
  if (name == (communicates ? "comm_size" : "tensor_size")) node.bytes = size_of(attribute, from);
  if (name == "comm_type" && node.kind == NodeKind::collective)
    node.collective = collective_of(attribute, from);
  if (name == "comm_src") node.source = chip_of(attribute, from);
  if (name == "comm_dst") node.destination = chip_of(attribute, from);
  if (name == "comm_tag") node.tag = chip_of(attribute, from);
  if (name == "pg_name") {
    node.group = attribute.string_val();
    if (const auto number = number_of(attribute)) node.group = fmt::format("{:.0f}", *number);
  }
  if (name == "involved_dim")
    for (const bool involved : attribute.bool_list().values()) node.dimensions.push_back(involved);
}

/// Returns the ids of the control and data dependencies, without duplicates.
std::vector<std::uint64_t> dependencies_of(const wire::Node& from) {
  std::vector<std::uint64_t> all(from.ctrl_deps().begin(), from.ctrl_deps().end());
  all.insert(all.end(), from.data_deps().begin(), from.data_deps().end());
  std::unordered_set<std::uint64_t> seen;
  std::erase_if(all, [&](std::uint64_t id) { return !seen.insert(id).second; });
  return all;
}

Node read_node(const wire::Node& from) {
  Node node{.id = from.id(), .name = from.name()};
  if (from.type() >= 0 && from.type() <= static_cast<int>(NodeKind::collective))
    node.kind = static_cast<NodeKind>(from.type());
  node.after = dependencies_of(from);
  node.duration_s = static_cast<double>(from.duration_micros()) * kMicrosecond;
  node.inputs = from.inputs().values();
  for (const wire::Attribute& attribute : from.attr()) read_attribute(attribute, from, node);
  return node;
}

// --- Writing

wire::Attribute& add(wire::Node& node, const char* name) {
  wire::Attribute& attribute = *node.add_attr();
  attribute.set_name(name);
  return attribute;
}

/// Uses the attribute types that ASTRA-sim's own generators write.
void write_attributes(const Node& node, wire::Node& to) {
  add(to, "is_cpu_op").set_bool_val(node.on_host);
  const auto bytes = static_cast<std::int64_t>(std::llround(node.bytes));
  switch (node.kind) {
    case NodeKind::compute:
      add(to, "num_ops").set_int64_val(std::llround(node.operations));
      add(to, "tensor_size").set_uint64_val(static_cast<std::uint64_t>(bytes));
      break;
    case NodeKind::load:
    case NodeKind::store:
      add(to, "tensor_size").set_uint64_val(static_cast<std::uint64_t>(bytes));
      break;
    case NodeKind::collective:
      add(to, "comm_type").set_int64_val(static_cast<std::int64_t>(node.collective));
      add(to, "comm_size").set_int64_val(bytes);
      if (!node.group.empty()) add(to, "pg_name").set_string_val(node.group);
      break;
    case NodeKind::send:
    case NodeKind::receive:
      add(to, "comm_size").set_int64_val(bytes);
      add(to, "comm_src").set_uint32_val(node.source);
      add(to, "comm_dst").set_uint32_val(node.destination);
      add(to, "comm_tag").set_uint32_val(node.tag);
      break;
    case NodeKind::invalid:
    case NodeKind::metadata: break;
  }
  if (!node.dimensions.empty()) {
    wire::Bools& dimensions = *add(to, "involved_dim").mutable_bool_list();
    for (const bool involved : node.dimensions) dimensions.add_values(involved);
  }
}

wire::Node write_node(const Node& node) {
  wire::Node to;
  to.set_id(node.id);
  to.set_name(node.name);
  to.set_type(static_cast<int>(node.kind));
  for (const std::uint64_t id : node.after) to.add_data_deps(id);
  if (node.duration_s > 0.0)
    to.set_duration_micros(
        static_cast<std::uint64_t>(std::max(1LL, std::llround(node.duration_s / kMicrosecond))));
  if (!node.inputs.empty()) to.mutable_inputs()->set_values(node.inputs);
  write_attributes(node, to);
  return to;
}

/// Writes a message after its length.
void put(CodedOutputStream& stream, const google::protobuf::MessageLite& message) {
  stream.WriteVarint32(static_cast<std::uint32_t>(message.ByteSizeLong()));
  message.SerializeToCodedStream(&stream);
}

}  // namespace

Trace read_trace(std::string_view bytes) {
  if (bytes.empty()) throw UserError("", "is empty; a Chakra trace begins with its version");
  Messages messages(bytes);
  Trace trace{.version = messages.next<wire::Metadata>("header").version(), .nodes = {}};
  while (!messages.done()) trace.nodes.push_back(read_node(messages.next<wire::Node>("node")));
  return trace;
}

std::string write_trace(const Trace& trace) {
  wire::Metadata metadata;
  metadata.set_version(trace.version);
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream output(&bytes);
    CodedOutputStream stream(&output);  // completes the bytes when destroyed
    put(stream, metadata);
    for (const Node& node : trace.nodes) put(stream, write_node(node));
  }
  return bytes;
}

}  // namespace equarx::chakra
