// Base sweeps for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/sweep/points.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing {

/// A sweep of good_config() over `axes`, JSON text.
inline input::Json sweep_json(const std::string& axes, const std::string& exclude = "[]") {
  return {{"base", good_config()},
          {"axes", input::parse_json(axes)},
          {"exclude", input::parse_json(exclude)}};
}

inline sweep::Sweep sweep_of(const input::Json& json) {
  return sweep::read_sweep(json, ".", "test");
}

inline sweep::SweepPoints points_of(const std::string& axes, const std::string& exclude = "[]") {
  return sweep::SweepPoints(sweep_of(sweep_json(axes, exclude)));
}

/// Error message of a sweep that is refused before it runs.
inline void check_sweep_refused(const std::string& axes, const std::string& place,
                                const std::string& remedy) {
  check_refused([&] { points_of(axes).check(); }, place, remedy);
}

/// A folder that is deleted at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "equarx-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) FAIL("mkdtemp");
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace equarx::testing
