#include "models/serving/block_pool.hpp"

#include <deque>
#include <map>
#include <random>

#include "tests/catch.hpp"

namespace equarx::serving::block_pool_test {
namespace {

BlockText text(std::uint64_t prefix, std::uint64_t prefix_blocks, std::uint64_t own) {
  return {.prefix = prefix, .prefix_blocks = prefix_blocks, .own = own};
}

TEST_CASE("full blocks are present during and after their use") {
  BlockPool pool(8);
  HeldBlocks first;
  CHECK(pool.extend(first, text(1, 2, 100), 4, 3, 0));
  CHECK(pool.used() == 4);
  CHECK(pool.present(text(1, 2, 100), 10) == 3);
  CHECK(pool.present(text(1, 2, 101), 10) == 2);
  CHECK(pool.present(text(1, 2, 101), 1) == 1);
  CHECK(pool.present(text(2, 2, 100), 10) == 0);
  pool.release(first);
  CHECK(pool.used() == 0);
  CHECK(pool.present(text(1, 2, 100), 10) == 3);
  CHECK(pool.evictions() == 0);
}

TEST_CASE("a sequence shares blocks that are present, and conserves the others") {
  BlockPool pool(6);
  HeldBlocks first;
  HeldBlocks second;
  HeldBlocks third;
  CHECK(pool.extend(first, text(1, 2, 100), 3, 3, 0));
  CHECK(pool.extend(second, text(1, 2, 101), 4, 3, 2));
  CHECK(pool.used() == 5);
  CHECK(second.blocks[1] == first.blocks[1]);
  CHECK_FALSE(pool.extend(third, text(1, 2, 102), 4, 4, 2));
  CHECK(third.blocks.empty());
  CHECK(pool.used() == 5);
  pool.release(first);
  CHECK(pool.used() == 4);
  CHECK(pool.extend(third, text(1, 2, 102), 4, 4, 2));
  CHECK(pool.used() == 6);
  CHECK(pool.evictions() == 1);  // the own block of the first
}

TEST_CASE("the last blocks of the sequence released first are evicted first") {
  BlockPool pool(4);
  HeldBlocks first;
  HeldBlocks second;
  HeldBlocks third;
  CHECK(pool.extend(first, text(1, 2, 100), 2, 2, 0));
  CHECK(pool.extend(second, text(2, 2, 101), 2, 2, 0));
  pool.release(second);
  pool.release(first);
  CHECK(pool.extend(third, text(3, 1, 102), 1, 1, 0));
  CHECK(pool.present(text(2, 2, 0), 2) == 1);
  CHECK(pool.present(text(1, 2, 0), 2) == 2);
}

TEST_CASE("blocks that are present but idle need room, too") {
  BlockPool pool(3);
  HeldBlocks first;
  HeldBlocks second;
  CHECK(pool.extend(first, text(1, 2, 100), 2, 2, 0));
  pool.release(first);
  CHECK_FALSE(pool.extend(second, text(1, 2, 101), 4, 4, 2));
  CHECK(pool.present(text(1, 2, 0), 2) == 2);
  CHECK(pool.extend(second, text(1, 2, 101), 3, 3, 2));
  CHECK(pool.evictions() == 0);
}

/// Blocks by contents, with the time of their last use: a slow reference without block numbers.
class SlowPool {
 public:
  explicit SlowPool(std::size_t blocks) : blocks_(blocks) {}

  /// Number of blocks found; -1 without room.
  int add(std::size_t sequence, const BlockText& one, std::uint64_t count) {
    std::vector<Key> keys;
    for (std::uint64_t i = 0; i < count; ++i)
      keys.emplace_back(one.contents(i).text, one.contents(i).index);
    std::size_t found = 0;
    while (found < count && entries_.contains(keys[found])) ++found;
    std::size_t fixed = found;  // blocks that must stay
    for (const auto& [key, entry] : entries_)
      if (entry.users > 0 && std::find(keys.begin(), keys.begin() + static_cast<long>(found),
                                       key) == keys.begin() + static_cast<long>(found))
        ++fixed;
    if (fixed + count - found > blocks_) return -1;
    for (std::size_t i = 0; i < found; ++i) ++entries_[keys[i]].users;
    for (std::size_t i = found; i < count; ++i) {
      if (entries_.size() == blocks_) evict();
      entries_[keys[i]] = {1, 0};
    }
    held_[sequence] = keys;
    return static_cast<int>(found);
  }

  void remove(std::size_t sequence) {
    const std::vector<Key> keys = held_[sequence];
    for (std::size_t i = keys.size(); i-- > 0;)
      if (--entries_[keys[i]].users == 0) entries_[keys[i]].since = ++now_;
    held_.erase(sequence);
  }

  std::size_t used() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const auto& entry) { return entry.second.users > 0; }));
  }
  std::uint64_t evictions() const { return evictions_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Entry {
    int users;
    std::uint64_t since;
  };

  void evict() {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->second.users == 0 &&
          (oldest == entries_.end() || entry->second.since < oldest->second.since))
        oldest = entry;
    entries_.erase(oldest);
    ++evictions_;
  }

  std::size_t blocks_;
  std::map<Key, Entry> entries_;
  std::map<std::size_t, std::vector<Key>> held_;
  std::uint64_t now_ = 0;
  std::uint64_t evictions_ = 0;
};

TEST_CASE("blocks found and evicted are those of a slow reference") {
  std::mt19937 random(7);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  for (const std::size_t blocks : {6U, 20U, 60U}) {
    CAPTURE(blocks);
    BlockPool pool(blocks);
    SlowPool slow(blocks);
    std::map<std::size_t, HeldBlocks> held;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < 3000; ++i) {
      if (!held.empty() && draw(2) == 0) {
        const auto one = std::next(held.begin(), static_cast<long>(draw(held.size() - 1)));
        slow.remove(one->first);
        pool.release(one->second);
        held.erase(one);
      } else {
        const BlockText one = text(2 * draw(4), draw(3), 2 * i + 1);
        const std::uint64_t count = one.prefix_blocks + draw(2) + 1;
        const int found = slow.add(i, one, count);
        HeldBlocks blocks_of;
        if (found >= 0) REQUIRE(pool.present(one, count) == static_cast<std::uint64_t>(found));
        const bool fits = pool.extend(blocks_of, one, count, count, count);
        REQUIRE(fits == (found >= 0));
        refused += fits ? 0 : 1;
        if (fits) held[i] = blocks_of;
      }
      REQUIRE(pool.used() == slow.used());
      REQUIRE(pool.evictions() == slow.evictions());
    }
    CHECK(refused > 0);
    CHECK(pool.evictions() > 100);
  }
}

}  // namespace
}  // namespace equarx::serving::block_pool_test
