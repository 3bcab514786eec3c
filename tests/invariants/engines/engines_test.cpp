// The direct engine agrees with SimGrid on random machines, programs, other work and failures.
//
// A hundred cases of each kind; RC_PARAMS="max_success=10000" in the environment for more.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/invariants/engines/cases.hpp"

namespace equarx::sim::engines_test {
namespace {

constexpr double kRelative = 1e-9;

/// Describes the differences; empty if there are none.
class Difference {
 public:
  /// `whole_s`: reference duration for relative differences.
  explicit Difference(double whole_s) : whole_s_(whole_s) {}

  void times(const std::string& what, double simgrid, double direct) {
    if (std::abs(simgrid - direct) > kRelative * std::max(whole_s_, std::abs(simgrid)))
      add(fmt::format("{}: {} on SimGrid, {} direct", what, simgrid, direct));
  }
  template <typename T>
  void equal(const std::string& what, const T& simgrid, const T& direct) {
    if (!(simgrid == direct))
      add(fmt::format("{}: {} on SimGrid, {} direct", what, simgrid, direct));
  }
  const std::string& text() const { return text_; }

 private:
  void add(const std::string& line) {
    if (text_.size() < 1000) text_ += line + "\n";
  }

  double whole_s_;
  std::string text_;
};

void compare_failures(const TimeResult& simgrid, const TimeResult& direct, Difference& found) {
  found.equal("fails", simgrid.failure.has_value(), direct.failure.has_value());
  if (!simgrid.failure || !direct.failure) return;
  found.times("failure", simgrid.failure->time_s, direct.failure->time_s);
  found.equal("sender", simgrid.failure->sender, direct.failure->sender);
  found.equal("receiver", simgrid.failure->receiver, direct.failure->receiver);
  found.equal("message", simgrid.failure->message, direct.failure->message);
  found.equal("failed link", simgrid.failure->link, direct.failure->link);
}

/// Events in an order that is robust to rounding: by chip, or by sender and message.
void compare_traces(Trace simgrid, Trace direct, Difference& found) {
  const auto core = [](const CoreEvent& event) { return std::tuple(event.rank, event.work); };
  std::ranges::stable_sort(simgrid.core, {}, core);
  std::ranges::stable_sort(direct.core, {}, core);
  found.equal("core events", simgrid.core.size(), direct.core.size());
  for (std::size_t i = 0; i < std::min(simgrid.core.size(), direct.core.size()); ++i) {
    found.equal("instruction", simgrid.core[i].instruction, direct.core[i].instruction);
    found.times("core start", simgrid.core[i].start_s, direct.core[i].start_s);
    found.times("core end", simgrid.core[i].end_s, direct.core[i].end_s);
  }
  const auto transfer = [](const TransferEvent& event) {
    return std::tuple(event.sender, event.message);
  };
  std::ranges::stable_sort(simgrid.transfers, {}, transfer);
  std::ranges::stable_sort(direct.transfers, {}, transfer);
  found.equal("transfers", simgrid.transfers.size(), direct.transfers.size());
  for (std::size_t i = 0; i < std::min(simgrid.transfers.size(), direct.transfers.size()); ++i) {
    found.equal("message", simgrid.transfers[i].message, direct.transfers[i].message);
    found.times("sent", simgrid.transfers[i].sent_s, direct.transfers[i].sent_s);
    found.times("arrived", simgrid.transfers[i].arrived_s, direct.transfers[i].arrived_s);
  }
}

std::string difference(const TimeResult& simgrid, const TimeResult& direct) {
  Difference found(simgrid.time_s);
  found.times("time", simgrid.time_s, direct.time_s);
  found.equal("messages", simgrid.messages, direct.messages);
  compare_failures(simgrid, direct, found);
  for (std::size_t link = 0; link < simgrid.link_bytes.size(); ++link) {
    found.equal("link bytes", simgrid.link_bytes[link], direct.link_bytes[link]);
    found.times("link busy", simgrid.link_busy_s[link], direct.link_busy_s[link]);
  }
  for (std::size_t rank = 0; rank < simgrid.core_busy_s.size(); ++rank)
    found.times("core busy", simgrid.core_busy_s[rank], direct.core_busy_s[rank]);
  for (std::size_t rank = 0; rank < simgrid.waits.size(); ++rank) {
    found.times("wait for links", simgrid.waits[rank].links_s, direct.waits[rank].links_s);
    found.times("wait for senders", simgrid.waits[rank].senders_s, direct.waits[rank].senders_s);
    found.times("wait for queues", simgrid.waits[rank].queue_s, direct.waits[rank].queue_s);
  }
  compare_traces(simgrid.trace, direct.trace, found);
  return found.text();
}

/// True if a relative change of 1e-12 of all rates changes no time by more than the tolerance.
///
/// Queues and shared links can amplify rounding errors from message to message: about one case in
/// ten thousand repeats no result to nine digits, on either engine.
bool is_well_conditioned(const testing::EngineCase& made, const TimeResult& direct) {
  testing::EngineCase changed = made;
  for (LinkSpec& link : changed.machine.links) link.rate *= 1.0 + 1e-12;
  return difference(direct, changed.simulate(Engine::direct)).empty();
}

void check_engines_agree(const testing::CaseKind& kind) {
  CHECK(rc::check([&] {
    const testing::EngineCase made = testing::generate_case(kind);
    RC_LOG() << made.description << "\n";
    const TimeResult direct = made.simulate(Engine::direct);
    RC_PRE(is_well_conditioned(made, direct));
    const TimeResult simgrid = made.simulate(Engine::simgrid);
    const std::string found = difference(simgrid, direct);
    RC_LOG() << found;
    RC_ASSERT(found.empty());
  }));
}

TEST_CASE("both engines agree if every pair of chips has separate links") {
  check_engines_agree({});
}

TEST_CASE("both engines agree on shared links") { check_engines_agree({.shares_links = true}); }

TEST_CASE("both engines agree on a link failure") { check_engines_agree({.fails = true}); }

TEST_CASE("both engines agree on a failure of a shared link") {
  check_engines_agree({.shares_links = true, .fails = true});
}

TEST_CASE("both engines agree if DMAs and cores share HBM") {
  check_engines_agree({.shares_hbm = true});
}

TEST_CASE("both engines agree on shared links with shared HBM") {
  check_engines_agree({.shares_links = true, .shares_hbm = true});
}

TEST_CASE("both engines agree on a link failure with shared HBM") {
  check_engines_agree({.fails = true, .shares_hbm = true});
}

}  // namespace
}  // namespace equarx::sim::engines_test
