#include "sim/engines/direct/fair_rates.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::sim::fair_rates_test {
namespace {

using Routes = std::vector<std::vector<FairRates::Link>>;

/// Reference: non-incremental progressive filling.
std::vector<double> filled(const std::vector<double>& capacities, const Routes& routes,
                           const std::set<FairRates::Bundle>& present) {
  std::vector<double> rates(routes.size(), 0.0);
  std::vector<double> left = capacities;
  std::set<FairRates::Bundle> open = present;
  while (!open.empty()) {
    std::vector<double> users(capacities.size(), 0.0);
    for (const FairRates::Bundle flow : open)
      for (const FairRates::Link link : routes[flow]) users[link] += 1.0;
    std::size_t fullest = 0;
    double level = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < capacities.size(); ++link)
      if (users[link] > 0.0 && left[link] / users[link] < level) {
        level = left[link] / users[link];
        fullest = link;
      }
    for (const FairRates::Bundle flow : std::set(open)) {
      if (std::ranges::find(routes[flow], fullest) == routes[flow].end()) continue;
      rates[flow] = level;
      for (const FairRates::Link link : routes[flow]) left[link] -= level;
      open.erase(flow);
    }
  }
  return rates;
}

void check_rates(const FairRates& rates, const std::vector<double>& capacities,
                 const Routes& routes, const std::set<FairRates::Bundle>& present) {
  const std::vector<double> expected = filled(capacities, routes, present);
  for (const FairRates::Bundle flow : present)
    REQUIRE(rates.rate(flow) == Approx(expected[flow]).epsilon(1e-12));
}

TEST_CASE("flows over one link share it evenly") {
  const std::vector<double> capacities = {12.0};
  FairRates rates(capacities, Routes{{0}, {0}, {0}});
  rates.add(0);
  rates.solve();
  CHECK(rates.rate(0) == 12.0);
  rates.add(1);
  rates.add(2);
  CHECK(rates.solve().size() == 3);
  CHECK(rates.rate(0) == 4.0);
  CHECK(rates.rate(2) == 4.0);
  rates.remove(1);
  rates.solve();
  CHECK(rates.rate(0) == 6.0);
}

TEST_CASE("a flow limited elsewhere leaves its share to the others") {
  // Textbook example: a long flow over two links, one of them narrow.
  const std::vector<double> capacities = {10.0, 2.0};
  FairRates rates(capacities, Routes{{0, 1}, {0}, {1}});
  for (const FairRates::Bundle flow : {0U, 1U, 2U}) rates.add(flow);
  rates.solve();
  CHECK(rates.rate(0) == 1.0);
  CHECK(rates.rate(1) == 9.0);
  CHECK(rates.rate(2) == 1.0);
}

TEST_CASE("only flows with changed rates are returned") {
  const std::vector<double> capacities = {10.0, 2.0};
  FairRates rates(capacities, Routes{{0}, {0}, {1}, {1}});
  for (const FairRates::Bundle flow : {0U, 1U, 2U, 3U}) rates.add(flow);
  CHECK(rates.solve().size() == 4);
  CHECK(rates.solve().empty());
  rates.remove(0);  // one of the fast flows; flows on the other link are unaffected
  const auto changed = rates.solve();
  REQUIRE(changed.size() == 1);
  CHECK(changed.front() == 1);
}

TEST_CASE("adding and removing a flow at once has no effect") {
  const std::vector<double> capacities = {10.0};
  FairRates rates(capacities, Routes{{0}, {0}});
  rates.add(0);
  rates.solve();
  rates.add(1);
  rates.remove(1);
  CHECK(rates.solve().empty());
  CHECK(rates.rate(0) == 10.0);
}

TEST_CASE("incremental rates equal non-incremental rates after arbitrary changes") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 120; ++trial) {
    const std::size_t links = 1 + random() % 12;
    std::vector<double> capacities(links);
    const bool alike = random() % 2 == 0;
    for (double& capacity : capacities)
      capacity = alike ? 45.0 : 1.0 + static_cast<double>(random() % 1000) / 7.0;
    Routes routes(1 + random() % 40);
    for (auto& route : routes)
      while (route.empty())
        for (FairRates::Link link = 0; link < links; ++link)
          if (random() % 4 == 0) route.insert(route.end(), 1 + random() % 5 / 4, link);
    FairRates rates(capacities, routes);
    std::set<FairRates::Bundle> present;
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
        const auto flow = static_cast<FairRates::Bundle>(random() % routes.size());
        if (present.erase(flow) > 0) {
          rates.remove(flow);
        } else {
          rates.add(flow);
          present.insert(flow);
        }
      }
      rates.solve();
      check_rates(rates, capacities, routes, present);
    }
  }
}

/// Routes between all nodes of a square mesh, along its rows first.
Routes mesh_routes(std::uint32_t length) {
  Routes routes;
  const std::uint32_t nodes = length * length;
  for (std::uint32_t from = 0; from < nodes; ++from)
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from == to) continue;
      std::vector<FairRates::Link>& route = routes.emplace_back();
      std::uint32_t at = from;
      for (const std::uint32_t step : {1U, length}) {  // links: 4 of each node
        const auto place = [&](std::uint32_t node) {
          return step == 1 ? node % length : node / length;
        };
        const bool up = place(to) > place(at);
        while (place(at) != place(to)) {
          route.push_back(4 * at + (step == 1 ? 0 : 2) + static_cast<std::uint32_t>(up));
          at = up ? at + step : at - step;
        }
      }
    }
  return routes;
}

TEST_CASE("alike links with many flows have the rates of a filling") {
  const Routes routes = mesh_routes(7);
  const std::vector<double> capacities(std::size_t{4} * 7 * 7, 45e9);
  std::mt19937_64 random(5);
  FairRates rates(capacities, routes);
  std::set<FairRates::Bundle> present;
  for (FairRates::Bundle flow = 0; flow < routes.size(); ++flow) {
    rates.add(flow);
    present.insert(flow);
  }
  while (!present.empty()) {
    for (int change = 0; change < 100 && !present.empty(); ++change) {
      const auto flow = *std::next(present.begin(), static_cast<long>(random() % present.size()));
      rates.remove(flow);
      present.erase(flow);
      rates.solve();
    }
    check_rates(rates, capacities, routes, present);
  }
}

TEST_CASE("a bundle has the rates of as many flows with its route") {
  std::mt19937_64 random(3);
  constexpr std::size_t kMost = 5;
  for (int trial = 0; trial < 120; ++trial) {
    const std::size_t links = 1 + random() % 8;
    std::vector<double> capacities(links);
    for (double& capacity : capacities) capacity = 1.0 + static_cast<double>(random() % 100) / 7.0;
    Routes routes(1 + random() % 12);
    for (auto& route : routes)
      while (route.empty())
        for (FairRates::Link link = 0; link < links; ++link)
          if (random() % 3 == 0) route.push_back(link);
    Routes single;  // kMost flows for each bundle
    for (const auto& route : routes) single.insert(single.end(), kMost, route);
    FairRates rates(capacities, routes);
    std::vector<std::size_t> sizes(routes.size());
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
        const std::size_t at = random() % routes.size();
        const auto bundle = static_cast<FairRates::Bundle>(at);
        const bool adds = sizes[at] == 0 || (sizes[at] < kMost && random() % 2 == 0);
        adds ? rates.add(bundle) : rates.remove(bundle);
        adds ? ++sizes[at] : --sizes[at];
      }
      rates.solve();
      std::set<FairRates::Bundle> present;
      for (std::size_t at = 0; at < sizes.size(); ++at)
        for (std::size_t i = 0; i < sizes[at]; ++i)
          present.insert(static_cast<FairRates::Bundle>(at * kMost + i));
      const std::vector<double> expected = filled(capacities, single, present);
      for (const FairRates::Bundle flow : present)
        REQUIRE(rates.rate(flow / kMost) == Approx(expected[flow]).epsilon(1e-12));
    }
  }
}

TEST_CASE("rounding errors do not accumulate over a hundred thousand changes") {
  std::mt19937_64 random(2);
  const std::vector<double> capacities = {45.0, 13.0 / 3.0, 0.7, 100.0 / 9.0};
  const Routes routes = {{0}, {0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}, {2}, {3}};
  FairRates rates(capacities, routes);
  std::set<FairRates::Bundle> present = {0};  // keeps the first link in use
  rates.add(0);
  for (int step = 0; step < 100'000; ++step) {
    const auto flow = static_cast<FairRates::Bundle>(1 + random() % (routes.size() - 1));
    if (present.erase(flow) > 0) {
      rates.remove(flow);
    } else {
      rates.add(flow);
      present.insert(flow);
    }
    rates.solve();
  }
  check_rates(rates, capacities, routes, present);
}

}  // namespace
}  // namespace equarx::sim::fair_rates_test
