// Pictures of `--plot`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/input/json_value.hpp"
#include "base/output/output_file.hpp"

namespace equarx::cli {

/// A picture of a result, drawn by tools/plot.
class PlottedResult {
 public:
  /// Opens the file and finds Python with matplotlib, before the result is computed.
  /// @param kind  of picture: "advice"
  /// @throws InputError if the name ends in neither .svg, .png nor .pdf, if it cannot be written, or
  /// if pictures cannot be drawn here
  PlottedResult(std::string kind, const std::string& path);

  /// Draws a result, as `--json` prints it, and keeps the file. @throws InputError if that fails
  void draw(const input::Json& result);

 private:
  std::string kind_;
  std::string format_;            ///< "svg", "png", "pdf"
  std::filesystem::path script_;  ///< plot.py
  std::string python_;
  output::OutputFile file_;
};

/// Opens the picture of an option `--plot` with this file; std::nullopt without one.
/// @throws InputError as the constructor, and if the file is the configuration
std::optional<PlottedResult> open_plot(const std::string& kind, const std::string& path,
                                       const std::string& config);

}  // namespace equarx::cli
