// Pictures of `advise --plot`.
#pragma once

#include <filesystem>
#include <string>

#include "base/input/json_value.hpp"
#include "base/output/output_file.hpp"

namespace equarx::cli {

/// A picture of an advice, drawn by tools/plot (kind "advice").
class PlottedAdvice {
 public:
  /// Opens the file and finds Python with matplotlib, before the advice is computed.
  /// @throws InputError if the name ends in neither .svg, .png nor .pdf, if it cannot be written, or
  /// if pictures cannot be drawn here
  explicit PlottedAdvice(const std::string& path);

  /// Draws a result of `advise --json` and keeps the file. @throws InputError if that fails
  void draw(const input::Json& advice);

 private:
  std::string format_;            ///< "svg", "png", "pdf"
  std::filesystem::path script_;  ///< plot.py
  std::string python_;
  output::OutputFile file_;
};

}  // namespace equarx::cli
