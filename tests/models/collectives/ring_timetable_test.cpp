#include "models/collectives/ring_timetable.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_timetable_test {

using namespace equarx::collectives;
using namespace equarx::testing;

namespace {

using Lengths = std::vector<std::uint32_t>;

constexpr std::uint64_t kLarge = std::uint64_t{1} << 27;

struct Made {
  RankGrid grid;
  RingOptions options;
  std::vector<RingTour> tours;
  std::vector<double> segments;  // elements of each tour's segments
};

Made make(const Lengths& lengths, Collective collective = Collective::all_reduce) {
  Made made{RankGrid(lengths), ring(RingStyle::full_loop, {false, false}, {}, 1, 1), {}, {}};
  made.options.cut = {};
  made.options.collective = collective;
  made.tours = ring_tours(made.grid, kLarge, made.options);
  double shares = 0.0;
  for (const RingTour& tour : made.tours) shares += tour.share;
  for (const RingTour& tour : made.tours)
    made.segments.push_back(tour.share / shares * kLarge / 2.0);
  return made;
}

// Busy time of a stage's links: a direction of a ring of n moves n - 1 chunks; on an axis of two,
// both directions do.
double link_time(const Made& made, std::size_t tour, std::size_t stage) {
  double chunk = made.segments[tour];
  for (std::size_t i = 0; i <= stage; ++i) chunk /= made.grid.length(made.tours[tour].axes[i]);
  const std::uint32_t length = made.grid.length(made.tours[tour].axes[stage]);
  return chunk * (length == 2 ? 2 : length - 1);
}

}  // namespace

TEST_CASE("no link and no tour has two stages at once") {
  for (const Lengths& lengths : {Lengths{4, 4}, {4, 8}, {4, 2}, {4, 4, 8}, {2, 3, 5}})
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      const Made made = make(lengths, collective);
      const RingTimetable table(made.grid, made.tours, made.segments, made.options);
      std::vector<std::tuple<std::size_t, double, double>> by_axis;
      std::vector<std::tuple<std::size_t, double, double>> by_tour;
      for (const Phase phase : {Phase::reduce_scatter, Phase::all_gather}) {
        if (collective == Collective::reduce_scatter && phase == Phase::all_gather) continue;
        if (collective == Collective::all_gather && phase == Phase::reduce_scatter) continue;
        for (std::size_t tour = 0; tour < made.tours.size(); ++tour)
          for (std::size_t stage = 0; stage < lengths.size(); ++stage) {
            const double begin = table.begin(phase, tour, stage);
            const std::size_t axis = made.tours[tour].axes[stage];
            by_axis.emplace_back(axis, begin, begin + link_time(made, tour, stage));
            by_tour.emplace_back(tour, begin,
                                 begin + table.step(phase, tour, stage) * (lengths[axis] - 1));
          }
      }
      for (auto* uses : {&by_axis, &by_tour}) {
        std::ranges::sort(*uses);
        for (std::size_t i = 1; i < uses->size(); ++i) {
          const auto& [user, begin, end] = (*uses)[i];
          const auto& [before, its_begin, its_end] = (*uses)[i - 1];
          if (user == before) CHECK(begin >= its_end * (1.0 - 1e-12));
          CHECK(end <= table.end() * (1.0 + 1e-12));
        }
      }
    }
}

TEST_CASE("the timetable of a large tensor ends at most 2 % after the bound") {
  for (const Lengths& lengths : {Lengths{4, 8}, {8, 16}, {4, 4, 8}, {4, 2}, {3, 5}, {4, 4, 2}})
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      const Made made = make(lengths, collective);
      const double chips = made.grid.ranks();
      double links = 0.0;
      for (const std::uint32_t length : lengths) links += length == 2 ? 1.0 : 2.0;
      const double phases = collective == Collective::all_reduce ? 2.0 : 1.0;
      const double bound = phases * (chips - 1.0) / chips * kLarge / links;
      const double end = RingTimetable(made.grid, made.tours, made.segments, made.options).end();
      CAPTURE(lengths, end / bound);
      CHECK(end >= bound);
      CHECK(end <= 1.02 * bound);
    }
}

TEST_CASE("stages of equal tours follow each other without a gap, and back") {
  const Made made = make({4, 4});
  const RingTimetable table(made.grid, made.tours, made.segments, made.options);
  for (std::size_t tour = 0; tour < 2; ++tour) {
    CHECK(table.begin(Phase::reduce_scatter, tour, 0) == 0.0);
    double time = 0.0;
    for (const auto& [phase, stage] : {std::pair{Phase::reduce_scatter, 0U},
                                       {Phase::reduce_scatter, 1U},
                                       {Phase::all_gather, 1U},
                                       {Phase::all_gather, 0U}}) {
      CHECK(table.begin(phase, tour, stage) == Approx(time));
      time += 3.0 * table.step(phase, tour, stage);
    }
    CHECK(table.end() == Approx(time));
  }
}

TEST_CASE("instructions for busy links are issued when the last step of their stage is half over") {
  const Made made = make({4, 8});
  const RingTimetable table(made.grid, made.tours, made.segments, made.options);
  for (std::size_t tour = 0; tour < made.tours.size(); ++tour) {
    const double begin = table.begin(Phase::reduce_scatter, tour, 0);
    const double early = table.early(Phase::reduce_scatter, tour, 0);
    CHECK((begin == 0.0) == (early == 0.0));
    if (begin == 0.0) continue;
    double step = 0.0;  // of the stage that ends when this one begins
    for (std::size_t other = 0; other < made.tours.size(); ++other)
      if (other != tour && made.tours[other].axes[0] == made.tours[tour].axes[0] &&
          table.begin(Phase::reduce_scatter, other, 0) < begin)
        step = table.step(Phase::reduce_scatter, other, 0);
    CHECK(early == step / 2.0);
  }
}

}  // namespace equarx::ring_timetable_test
