#include "models/serving/block_pool.hpp"

#include <algorithm>
#include <utility>

namespace equarx::serving {

std::size_t BlockPool::Hash::operator()(const BlockContents& contents) const {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  constexpr int kHalf = 32;
  const std::uint64_t mixed = (contents.text * kOdd ^ contents.index) * kOdd;
  return static_cast<std::size_t>(mixed ^ mixed >> kHalf);
}

std::uint64_t BlockPool::present(const BlockText& text, std::uint64_t most) const {
  std::uint64_t count = 0;
  while (count < most && by_contents_.contains(text.contents(count))) ++count;
  return count;
}

bool BlockPool::extend(HeldBlocks& held, const BlockText& text, std::uint64_t blocks,
                       std::uint64_t full, std::uint64_t reused) {
  std::vector<std::uint32_t> found;
  if (held.blocks.empty()) found.resize(present(text, std::min(reused, blocks)));
  for (std::uint64_t i = 0; i < found.size(); ++i)
    found[i] = by_contents_.at(text.contents(i)).front();
  const auto is_idle = [&](std::uint32_t block) { return states_[block].users == 0; };
  const auto leave_idle = static_cast<std::uint64_t>(std::ranges::count_if(found, is_idle));
  const std::uint64_t has = held.blocks.size() + found.size();
  const std::uint64_t more = blocks > has ? blocks - has : 0;
  if (more + leave_idle > unused_ + idle_.size()) return false;
  for (const std::uint32_t block : found) use(block);
  held.blocks.insert(held.blocks.end(), found.begin(), found.end());
  held.named += found.size();
  for (std::uint64_t i = 0; i < more; ++i) held.blocks.push_back(take());
  for (; held.named < full; ++held.named) name(held.blocks[held.named], text.contents(held.named));
  return true;
}

void BlockPool::release(HeldBlocks& held) {
  for (auto block = held.blocks.rbegin(); block != held.blocks.rend(); ++block)
    if (--states_[*block].users == 0) states_[*block].place = idle_.insert(idle_.end(), *block);
  held = {};
}

/// Adds a user of a block that is present.
void BlockPool::use(std::uint32_t block) {
  if (states_[block].users++ == 0) idle_.erase(states_[block].place);
}

/// A free block for new contents.
std::uint32_t BlockPool::take() {
  auto block = static_cast<std::uint32_t>(states_.size());
  if (unused_ > 0) {
    --unused_;
    states_.emplace_back();
  } else {
    block = idle_.front();
    idle_.pop_front();
    forget(block);
  }
  states_[block].users = 1;
  return block;
}

void BlockPool::forget(std::uint32_t block) {
  const std::optional<BlockContents> contents =
      std::exchange(states_[block].contents, std::nullopt);
  if (!contents) return;
  ++evictions_;
  const auto same = by_contents_.find(*contents);
  std::erase(same->second, block);
  if (same->second.empty()) by_contents_.erase(same);
}

void BlockPool::name(std::uint32_t block, const BlockContents& contents) {
  states_[block].contents = contents;
  by_contents_[contents].push_back(block);
}

}  // namespace equarx::serving
