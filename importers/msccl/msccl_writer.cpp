#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include <pugixml.hpp>

#include "importers/msccl/msccl_xml.hpp"

namespace equarx::schedules {
namespace {

void set(pugi::xml_node& node, const char* key, std::string_view text) {
  node.append_attribute(key).set_value(std::string(text).c_str());
}

void set(pugi::xml_node& node, const char* key, std::int64_t number) {
  node.append_attribute(key).set_value(static_cast<long long>(number));
}

/// Offset that msccl-tools writes for an unused source, destination or dependency.
constexpr std::int64_t kNoChunk = -1;

void add_step(const Step& step, std::size_t index, pugi::xml_node& block) {
  pugi::xml_node node = block.append_child("step");
  set(node, "s", static_cast<std::int64_t>(index));
  set(node, "type", name(step.op));
  const bool source = reads_source(step.op);
  const bool destination = writes_destination(step.op);
  // Runtimes read the source and the destination of every step: an unused one repeats the other.
  const Location from = source ? step.source : step.destination;
  const Location to = destination ? step.destination : step.source;
  const bool any = source || destination;
  set(node, "srcbuf", any ? name(from.memory) : name(Memory::input));
  set(node, "srcoff", any ? std::int64_t{from.chunk} : kNoChunk);
  set(node, "dstbuf", any ? name(to.memory) : name(Memory::output));
  set(node, "dstoff", any ? std::int64_t{to.chunk} : kNoChunk);
  set(node, "cnt", std::int64_t{step.count});
  set(node, "depid", step.after ? std::int64_t{step.after->block} : kNoChunk);
  set(node, "deps", step.after ? std::int64_t{step.after->step} : kNoChunk);
  set(node, "hasdep", std::int64_t{step.signals});
}

void add_rank(const Rank& rank, std::size_t id, pugi::xml_node& algo) {
  pugi::xml_node gpu = algo.append_child("gpu");
  set(gpu, "id", static_cast<std::int64_t>(id));
  set(gpu, "i_chunks", std::int64_t{rank.chunks[0]});
  set(gpu, "o_chunks", std::int64_t{rank.chunks[1]});
  set(gpu, "s_chunks", std::int64_t{rank.chunks[2]});
  for (std::size_t number = 0; number < rank.blocks.size(); ++number) {
    const ThreadBlock& block = rank.blocks[number];
    pugi::xml_node tb = gpu.append_child("tb");
    set(tb, "id", static_cast<std::int64_t>(number));
    set(tb, "send", block.send_to ? std::int64_t{*block.send_to} : -1);
    set(tb, "recv", block.receive_from ? std::int64_t{*block.receive_from} : -1);
    set(tb, "chan", std::int64_t{block.channel});
    for (std::size_t step = 0; step < block.steps.size(); ++step)
      add_step(block.steps[step], step, tb);
  }
}

/// Removes the blank before "/>", which RCCL's parser takes for another attribute.
std::string without_blanks(const std::string& text) {
  constexpr std::string_view kEnd = " />\n";  // newlines in names are escaped
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = text.find(kEnd); at != std::string::npos; at = text.find(kEnd, from)) {
    kept.append(text, from, at - from).append("/>\n");
    from = at + kEnd.size();
  }
  return kept.append(text, from);
}

}  // namespace

std::string write_msccl_xml(const Schedule& schedule) {
  std::uint32_t channels = 0;
  for (const Rank& rank : schedule.ranks)
    for (const ThreadBlock& block : rank.blocks) channels = std::max(channels, block.channel + 1);
  pugi::xml_document document;
  pugi::xml_node algo = document.append_child("algo");
  set(algo, "name", schedule.name);
  set(algo, "proto", name(schedule.protocol));
  set(algo, "nchannels", std::int64_t{channels});
  set(algo, "nchunksperloop", std::int64_t{schedule.chunks});
  set(algo, "ngpus", static_cast<std::int64_t>(schedule.ranks.size()));
  set(algo, "coll", name(schedule.collective));
  set(algo, "inplace", std::int64_t{schedule.in_place});
  set(algo, "outofplace", std::int64_t{schedule.out_of_place});
  set(algo, "minBytes", static_cast<std::int64_t>(schedule.min_bytes));
  set(algo, "maxBytes", static_cast<std::int64_t>(schedule.max_bytes));
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    add_rank(schedule.ranks[rank], rank, algo);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return without_blanks(text.str());
}

}  // namespace equarx::schedules
