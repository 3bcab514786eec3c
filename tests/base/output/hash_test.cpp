#include "base/output/hash.hpp"

#include <string>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::output::hash_test {
namespace {

using namespace testing;

TEST_CASE("a text's hash is the 128-bit XXH3 of reference implementations") {
  // The empty text, as in the sanity checks of xxHash, and a value from xxh128sum.
  CHECK(text_hash("") == "99aa06d3014798d86001c324468d497f");
  CHECK(text_hash("equarx\n") == "c4abfe8705d418832e793940147025bd");
}

TEST_CASE("a file's hash equals that of its text, at any length") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a";
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i);  // read in three blocks
  for (const std::string& content : {std::string(), std::string("{}"), text, text + '\0'}) {
    write(file, content);
    CHECK(file_hash(file.string()) == text_hash(content));
  }
  CHECK(text_hash(text) != text_hash(text + '\0'));
}

TEST_CASE("a file that cannot be read has no hash") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(file_hash((folder.path() / "none").string()),
                    ContainsSubstring("none: No such file or directory"));
  CHECK_THROWS_AS(file_hash(folder.path().string()), input::InputError);
}

}  // namespace
}  // namespace equarx::output::hash_test
