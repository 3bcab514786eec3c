#include "importers/msccl/msccl_xml.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::msccl_xml_test {
namespace {

using namespace schedules;

/// A schedule in the format of msccl-tools: rank 0 sends to rank 1.
const std::string kText = R"(<!-- a comment -->
<algo name="one" proto="LL128" nchannels="1" nchunksperloop="2" ngpus="2" coll="broadcast" inplace="1" outofplace="0" minBytes="8" maxBytes="64" redop="sum">
  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="3">
    <tb id="0" send="1" recv="-1" chan="4">
      <step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="1" deps="0" hasdep="0"/>
      <step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="1" dstbuf="s" dstoff="2" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="-1" recv="0" chan="4">
      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kText;
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { read_msccl_xml(text); });
}

TEST_CASE("all MSCCL attributes are read") {
  const Schedule schedule = read_msccl_xml(kText);
  CHECK(schedule.name == "one");
  CHECK(schedule.collective == Collective::broadcast);
  CHECK(schedule.protocol == Protocol::ll128);
  CHECK(schedule.chunks == 2);
  CHECK((schedule.in_place && !schedule.out_of_place));
  CHECK(schedule.min_bytes == 8);
  CHECK(schedule.max_bytes == 64);
  REQUIRE(schedule.ranks.size() == 2);
  CHECK(schedule.ranks[0].chunks == std::array<std::uint32_t, 3>{2, 0, 3});
  const ThreadBlock& block = schedule.ranks[0].blocks[0];
  CHECK(block.send_to == 1U);
  CHECK_FALSE(block.receive_from);
  CHECK(block.channel == 4);
  CHECK(block.steps[0] == Step{.op = Op::nop, .after = Dependency{1, 0}});
  CHECK(block.steps[1] == Step{.op = Op::send, .source = {Memory::input, 0}, .count = 2});
  CHECK(block.steps[1].line == 6);
  CHECK(schedule.ranks[0].blocks[1].steps[0] == Step{.op = Op::copy,
                                                     .source = {Memory::input, 1},
                                                     .destination = {Memory::scratch, 2},
                                                     .count = 1,
                                                     .signals = true});
  CHECK(schedule.ranks[1].blocks[0].steps[0] ==
        Step{.op = Op::receive, .destination = {Memory::output, 0}, .count = 2});
}

TEST_CASE("written schedules read back unchanged") {
  for (Schedule schedule : {read_msccl_xml(kText), two_ranks(), ring(4)}) {
    schedule.name = "a <\"b\" />";
    const std::string text = write_msccl_xml(schedule);
    CHECK(read_msccl_xml(text) == schedule);
    CHECK(text.starts_with("<algo "));
  }
  CHECK_THAT(write_msccl_xml(two_ranks()),
             ContainsSubstring("hasdep=\"1\"/>\n"));  // as RCCL's parser requires
  CHECK_THAT(write_msccl_xml(read_msccl_xml(kText)), ContainsSubstring("nchannels=\"5\""));
}

TEST_CASE("collective names of both MSCCL versions are known, others are custom") {
  CHECK(read_msccl_xml(with("broadcast", "reduce_scatter")).collective ==
        Collective::reduce_scatter);
  CHECK(read_msccl_xml(with("broadcast", "reducescatter")).collective ==
        Collective::reduce_scatter);
  CHECK(read_msccl_xml(with("broadcast", "sendrecv")).collective == Collective::custom);
  CHECK(read_msccl_xml(with(" inplace=\"1\" outofplace=\"0\"", "")).out_of_place);
}

TEST_CASE("errors in MSCCL files name the line") {
  CHECK_THAT(refusal_of("HloModule m"), ContainsSubstring("line 1: not XML"));
  CHECK_THAT(refusal_of(""), ContainsSubstring("line 1: not XML"));
  CHECK_THAT(refusal_of("<a>\n<b>\n</c></a>"), ContainsSubstring("line 3: not XML"));
  CHECK_THAT(refusal_of("<graph/>"), ContainsSubstring("has no <algo>"));
  CHECK_THAT(refusal_of(with(" nchunksperloop=\"2\"", "")),
             ContainsSubstring("line 2: <algo>: has no nchunksperloop"));
  CHECK_THAT(refusal_of(with("LL128", "LL64")),
             ContainsSubstring("proto=\"LL64\" is unknown; use one of Simple, LL, LL128"));
  CHECK_THAT(refusal_of(with("ngpus=\"2\"", "ngpus=\"3\"")),
             ContainsSubstring("ngpus=\"3\", but there are 2 <gpu>"));
  CHECK_THAT(refusal_of(with("ngpus=\"2\"", "ngpus=\"99999\"")),
             ContainsSubstring("from 1 to 4096"));
  CHECK_THAT(refusal_of(with("inplace=\"1\"", "inplace=\"0\"")), ContainsSubstring("both 0"));
  CHECK_THAT(refusal_of(with("gpu id=\"1\"", "gpu id=\"2\"")),
             ContainsSubstring("line 12: <gpu>: id=\"2\" must be 1"));
  CHECK_THAT(refusal_of(with("tb id=\"1\"", "tb id=\"0\"")),
             ContainsSubstring("line 8: <tb>: id=\"0\" must be 1"));
  CHECK_THAT(refusal_of(with("s=\"1\" type", "s=\"2\" type")),
             ContainsSubstring("line 6: <step>: s=\"2\" must be 1"));
  CHECK_THAT(refusal_of(with("type=\"cpy\"", "type=\"copy\"")),
             ContainsSubstring("line 9: <step>: type=\"copy\" is unknown"));
  CHECK_THAT(refusal_of(with("dstoff=\"2\"", "dstoff=\"-1\"")),
             ContainsSubstring("dstoff=\"-1\" is not a chunk"));
  CHECK_THAT(refusal_of(with("dstbuf=\"s\"", "dstbuf=\"x\"")),
             ContainsSubstring("dstbuf=\"x\" is unknown"));
  CHECK_THAT(refusal_of(with("cnt=\"2\"", "cnt=\"0\"")),
             ContainsSubstring("cnt=\"0\" is allowed for a nop only"));
  CHECK_THAT(refusal_of(with("cnt=\"2\"", "cnt=\"2x\"")),
             ContainsSubstring("cnt=\"2x\" must be an integer"));
  CHECK_THAT(refusal_of(with("deps=\"0\"", "deps=\"-1\"")),
             ContainsSubstring("depid names a thread block, but deps names none"));
  CHECK_THAT(refusal_of(with("hasdep=\"1\"", "hasdep=\"2\"")), ContainsSubstring("from 0 to 1"));
  CHECK(is_xml("  \n<algo"));
  CHECK_FALSE(is_xml("{}"));
}

}  // namespace
}  // namespace equarx::testing::msccl_xml_test
