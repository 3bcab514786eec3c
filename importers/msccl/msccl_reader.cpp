#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/msccl_xml.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

// Limits beyond any real machine, low enough that derived numbers cannot overflow.
constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kMostChunksRead = 1 << 20;
constexpr std::int64_t kMostChannels = 1024;
constexpr std::int64_t kMostIndex = 1 << 20;
constexpr std::size_t kLongestShown = 40;

/// Parses one text; errors name the line.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Schedule read();

 private:
  Rank read_rank(const pugi::xml_node& gpu);
  ThreadBlock read_block(const pugi::xml_node& tb);
  Step read_step(const pugi::xml_node& node, std::size_t index);
  Location read_location(const pugi::xml_node& step, const char* memory, const char* offset,
                         bool used);

  std::string_view attribute(const pugi::xml_node& node, const char* key);
  std::int64_t number(const pugi::xml_node& node, const char* key, std::int64_t least,
                      std::int64_t most);
  std::int64_t number_or(const pugi::xml_node& node, const char* key, std::int64_t otherwise,
                         std::int64_t least, std::int64_t most);
  std::optional<std::uint32_t> peer(const pugi::xml_node& tb, const char* key);
  template <typename Value, std::size_t kCount>
  Value word(const pugi::xml_node& node, const char* key, const Value (&values)[kCount]);
  Collective collective(const pugi::xml_node& algo);

  std::uint32_t line_of(std::ptrdiff_t offset);
  std::uint32_t line_of(const pugi::xml_node& node) { return line_of(node.offset_debug()); }
  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& message);

  std::string_view text_;
  std::size_t counted_ = 0;  ///< length of the prefix whose lines are counted
  std::uint32_t line_ = 1;   ///< line number at its end
};

std::string shortened(std::string_view text) {
  return text.size() <= kLongestShown ? std::string(text)
                                      : fmt::format("{}...", text.substr(0, kLongestShown));
}

/// Counts lines incrementally, as elements mostly come in text order.
std::uint32_t Reader::line_of(std::ptrdiff_t offset) {
  const std::size_t to =
      std::min(text_.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  if (to < counted_) {
    counted_ = 0;
    line_ = 1;
  }
  line_ +=
      static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                            text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  counted_ = to;
  return line_;
}

void Reader::refuse(const pugi::xml_node& node, const std::string& message) {
  throw UserError(fmt::format("line {}: <{}>", line_of(node), shortened(node.name())), message);
}

std::string_view Reader::attribute(const pugi::xml_node& node, const char* key) {
  const pugi::xml_attribute found = node.attribute(key);
  if (!found) refuse(node, fmt::format("has no {}, which MSCCL requires", key));
  return found.value();
}

std::int64_t Reader::number(const pugi::xml_node& node, const char* key, std::int64_t least,
                            std::int64_t most) {
  const std::string_view text = attribute(node, key);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || value < least ||
      value > most)
    refuse(node, fmt::format("{}=\"{}\" must be an integer from {} to {}", key, shortened(text),
                             least, most));
  return value;
}

std::int64_t Reader::number_or(const pugi::xml_node& node, const char* key, std::int64_t otherwise,
                               std::int64_t least, std::int64_t most) {
  return node.attribute(key) ? number(node, key, least, most) : otherwise;
}

std::optional<std::uint32_t> Reader::peer(const pugi::xml_node& tb, const char* key) {
  const std::int64_t rank = number(tb, key, -1, kMostRanks - 1);
  if (rank < 0) return std::nullopt;
  return static_cast<std::uint32_t>(rank);
}

template <typename Value, std::size_t kCount>
Value Reader::word(const pugi::xml_node& node, const char* key, const Value (&values)[kCount]) {
  const std::string_view text = attribute(node, key);
  std::string known;
  for (const Value value : values) {
    if (text == name(value)) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(value));
  }
  refuse(node, fmt::format("{}=\"{}\" is unknown; use one of {}", key, shortened(text), known));
}

/// Unknown collectives are custom: MSCCL runs them as well.
Collective Reader::collective(const pugi::xml_node& algo) {
  const std::string_view text = attribute(algo, "coll");
  if (text == "reduce_scatter") return Collective::reduce_scatter;  // older msccl-tools
  for (const Collective known :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::all_to_all, Collective::broadcast, Collective::reduce})
    if (text == name(known)) return known;
  return Collective::custom;
}

Location Reader::read_location(const pugi::xml_node& step, const char* memory, const char* offset,
                               bool used) {
  constexpr Memory kAll[] = {Memory::input, Memory::output, Memory::scratch};
  const Memory where = word(step, memory, kAll);
  const std::int64_t chunk = number(step, offset, -1, kMostChunksRead);
  if (!used) return {};  // msccl-tools writes the peer's location here, or -1
  if (chunk < 0)
    refuse(step, fmt::format("{}=\"-1\" is not a chunk, but this type needs one", offset));
  return {where, static_cast<std::uint32_t>(chunk)};
}

Step Reader::read_step(const pugi::xml_node& node, std::size_t index) {
  constexpr Op kAll[] = {Op::send,
                         Op::receive,
                         Op::copy,
                         Op::reduce,
                         Op::receive_copy_send,
                         Op::receive_reduce_send,
                         Op::receive_reduce_copy,
                         Op::receive_reduce_copy_send,
                         Op::nop};
  if (number(node, "s", 0, kMostIndex) != static_cast<std::int64_t>(index))
    refuse(node, fmt::format("s=\"{}\" must be {}: steps are numbered in order from 0",
                             shortened(node.attribute("s").value()), index));
  Step step;
  step.line = line_of(node);
  step.op = word(node, "type", kAll);
  step.source = read_location(node, "srcbuf", "srcoff", reads_source(step.op));
  step.destination = read_location(node, "dstbuf", "dstoff", writes_destination(step.op));
  const std::int64_t count = number(node, "cnt", 0, kMostChunksRead);
  if (step.op != Op::nop) {
    if (count == 0) refuse(node, "cnt=\"0\" is allowed for a nop only");
    step.count = static_cast<std::uint32_t>(count);
  }
  const std::int64_t block = number(node, "depid", -1, kMostIndex);
  const std::int64_t after = number(node, "deps", -1, kMostIndex);
  if (block >= 0) {
    if (after < 0) refuse(node, "depid names a thread block, but deps names none of its steps");
    step.after = Dependency{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(after)};
  }
  step.signals = number(node, "hasdep", 0, 1) == 1;
  return step;
}

ThreadBlock Reader::read_block(const pugi::xml_node& tb) {
  ThreadBlock block;
  block.line = line_of(tb);
  block.send_to = peer(tb, "send");
  block.receive_from = peer(tb, "recv");
  block.channel = static_cast<std::uint32_t>(number(tb, "chan", 0, kMostChannels - 1));
  for (const pugi::xml_node& step : tb.children("step"))
    block.steps.push_back(read_step(step, block.steps.size()));
  return block;
}

Rank Reader::read_rank(const pugi::xml_node& gpu) {
  Rank rank;
  rank.chunks = {static_cast<std::uint32_t>(number(gpu, "i_chunks", 0, kMostChunksRead)),
                 static_cast<std::uint32_t>(number(gpu, "o_chunks", 0, kMostChunksRead)),
                 static_cast<std::uint32_t>(number(gpu, "s_chunks", 0, kMostChunksRead))};
  for (const pugi::xml_node& tb : gpu.children("tb")) {
    if (number(tb, "id", 0, kMostIndex) != static_cast<std::int64_t>(rank.blocks.size()))
      refuse(tb, fmt::format("id=\"{}\" must be {}: thread blocks are numbered in order from 0",
                             shortened(tb.attribute("id").value()), rank.blocks.size()));
    rank.blocks.push_back(read_block(tb));
  }
  return rank;
}

Schedule Reader::read() {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed)
    throw UserError(fmt::format("line {}", line_of(parsed.offset)),
                    fmt::format("not XML: {}", parsed.description()));
  const pugi::xml_node algo = document.child("algo");
  if (!algo)
    throw UserError("line 1",
                    "has no <algo>, the root element of an MSCCL schedule (see msccl-tools)");
  constexpr Protocol kProtocols[] = {Protocol::simple, Protocol::ll, Protocol::ll128};
  Schedule schedule;
  schedule.name = algo.attribute("name").value();
  schedule.collective = collective(algo);
  schedule.protocol = word(algo, "proto", kProtocols);
  schedule.chunks = static_cast<std::uint32_t>(number(algo, "nchunksperloop", 1, kMostChunksRead));
  schedule.in_place = number_or(algo, "inplace", 0, 0, 1) == 1;
  schedule.out_of_place = number_or(algo, "outofplace", schedule.in_place ? 0 : 1, 0, 1) == 1;
  if (!schedule.in_place && !schedule.out_of_place)
    refuse(algo, "inplace and outofplace are both 0, so it can never run; set one of them to 1");
  constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  schedule.min_bytes = static_cast<std::uint64_t>(number_or(algo, "minBytes", 0, 0, kMostBytes));
  schedule.max_bytes = static_cast<std::uint64_t>(number_or(algo, "maxBytes", 0, 0, kMostBytes));
  const std::int64_t ranks = number(algo, "ngpus", 1, kMostRanks);
  for (const pugi::xml_node& gpu : algo.children("gpu")) {
    if (number(gpu, "id", 0, kMostRanks) != static_cast<std::int64_t>(schedule.ranks.size()))
      refuse(gpu, fmt::format("id=\"{}\" must be {}: GPUs are numbered in order from 0",
                              shortened(gpu.attribute("id").value()), schedule.ranks.size()));
    schedule.ranks.push_back(read_rank(gpu));
  }
  if (static_cast<std::int64_t>(schedule.ranks.size()) != ranks)
    refuse(algo, fmt::format("ngpus=\"{}\", but there are {} <gpu>", ranks, schedule.ranks.size()));
  return schedule;
}

}  // namespace

bool is_xml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

Schedule read_msccl_xml(std::string_view text) { return Reader(text).read(); }

}  // namespace equarx::schedules
