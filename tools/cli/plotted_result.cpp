#include "tools/cli/plotted_result.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/child.hpp"
#include "base/os/program_folder.hpp"
#include "base/os/temporary_folder.hpp"
#include "base/output/files.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

namespace fs = std::filesystem;
using input::InputError;

/// Beginnings of the messages of plot.py.
constexpr std::string_view kError = "plot: ";
constexpr std::string_view kNote = "plot: note: ";
/// Interpreters, Debian's first, as its matplotlib is installed for it.
constexpr std::array kPythons = {"/usr/bin/python3", "python3"};

std::string format_of(const std::string& path) {
  constexpr std::array kFormats = {"svg", "png", "pdf"};
  const std::string extension = fs::path(path).extension().string();
  const auto found = std::ranges::find_if(
      kFormats, [&](const std::string& format) { return extension == '.' + format; });
  if (found == kFormats.end())
    throw InputError(
        "", fmt::format("--plot: the name {} does not end in .svg, .png or .pdf; use one of them",
                        path));
  return *found;
}

/// plot.py as installed, or in the source tree that the program was built in.
fs::path find_script() {
  std::error_code ignored;
  const fs::path folder = os::program_folder();
  const fs::path installed =
      (folder / EQUARX_DATA_FROM_BIN / "plot" / "plot.py").lexically_normal();
  if (fs::exists(installed, ignored)) return installed;
  for (fs::path tree = folder; tree.has_relative_path(); tree = tree.parent_path())
    if (fs::exists(tree / "tools" / "plot" / "plot.py", ignored))
      return tree / "tools" / "plot" / "plot.py";
  throw InputError("", fmt::format("--plot: {} is missing; install equarx-sim completely, or use "
                                   "--json and draw elsewhere",
                                   installed.string()));
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Fails with the last line of plot.py.
[[noreturn]] void fail(const std::vector<std::string>& messages) {
  std::string reason = messages.empty() ? "failed without a message" : messages.back();
  if (reason.starts_with(kError)) reason.erase(0, kError.size());
  throw InputError("", fmt::format("--plot: {}", reason));
}

/// The first interpreter that can draw.
std::string find_python(const fs::path& script) {
  const os::TemporaryFolder folder;
  std::optional<std::vector<std::string>> messages;  // of the first interpreter
  for (const std::string python : kPythons) {
    const fs::path file = folder.path() / "messages";
    const auto status =
        os::run_program({python, "-B", script.string(), "--help"}, folder.path(), file);
    if (status && os::succeeded(*status)) return python;
    if (status && !messages) messages = lines_of(file);
  }
  if (messages) fail(*messages);
  throw InputError("",
                   "--plot: there is no python3; install Debian's packages python3-matplotlib and "
                   "python3-numpy");
}

}  // namespace

PlottedResult::PlottedResult(std::string kind, const std::string& path)
    : kind_(std::move(kind)),
      format_(format_of(path)),
      script_(find_script()),
      python_(find_python(script_)),
      file_(path) {}

void PlottedResult::draw(const input::Json& result) {
  const os::TemporaryFolder folder;
  const std::string file = kind_ + ".json";
  std::ofstream(folder.path() / file) << result.dump() << '\n';
  const fs::path messages = folder.path() / "messages";
  const auto status = os::run_program(
      {python_, "-B", script_.string(), kind_, file, "--format", format_}, folder.path(), messages);
  const std::vector<std::string> lines = lines_of(messages);
  if (!status || !os::succeeded(*status)) fail(lines);
  for (const std::string_view line : lines)
    if (line.starts_with(kNote))
      print_message(fmt::format("equarx-sim: note: {}\n", line.substr(kNote.size())));
  std::ifstream picture(folder.path() / (kind_ + "." + format_), std::ios::binary);
  std::copy(std::istreambuf_iterator<char>(picture), {},
            std::ostreambuf_iterator<char>(file_.stream()));
  file_.keep();
}

std::optional<PlottedResult> open_plot(const std::string& kind, const std::string& path,
                                       const std::string& config) {
  if (path.empty()) return std::nullopt;
  output::check_not_input(path, std::array{config});
  return std::optional<PlottedResult>(std::in_place, kind, path);
}

}  // namespace equarx::cli
