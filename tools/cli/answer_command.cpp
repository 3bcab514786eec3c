#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

#include <poll.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/provenance.hpp"
#include "experiments/request/request.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

using input::Json;

/// Exits if the client has exited. (Standard input may be closed earlier.)
void exit_if_client_gone() {
  pollfd answers{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  if (poll(&answers, 1, 0) > 0 && (answers.revents & POLLERR) != 0) std::_Exit(EXIT_SUCCESS);
}

/// Longest request in bytes. Configurations have some KiB; steps that list every task, some MiB.
constexpr std::size_t kLongestLine = 64 * 1024 * 1024;

/// Reads a line up to kLongestLine; std::nullopt at the end of the input. `whole`: false if the line
/// is longer, whose end is then skipped.
std::optional<std::string> next_line(std::istream& input, bool& whole) {
  std::string line;
  whole = true;
  std::streambuf& buffer = *input.rdbuf();
  for (int next = buffer.sbumpc(); next != std::char_traits<char>::eof(); next = buffer.sbumpc()) {
    if (next == '\n') return line;
    whole = line.size() < kLongestLine;
    if (whole) line.push_back(static_cast<char>(next));
  }
  if (line.empty()) return std::nullopt;
  return line;
}

request::Override read_override(const Json& pair, const std::string& pointer) {
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
    throw input::InputError(pointer,
                            R"(expected a pair of texts, like ["/tensor/bytes", "8 MiB"])");
  return {pair[0].get<std::string>(), pair[1].get<std::string>()};
}

/// Relative paths refer to the client's current folder, which may change.
void enter(const std::string& folder) {
  std::error_code error;
  std::filesystem::current_path(folder, error);
  if (error)
    throw input::InputError("request/folder", folder + ": " + error.message() + "; name a folder");
}

request::Request read_request(const std::string& line) {
  const Json json = input::parse_json(line);
  input::ObjectReader reader(json, "request");
  request::Request request;
  request.config = reader.required("config", "a configuration").dump();
  const std::string folder = reader.has("folder") ? reader.text("folder") : "";
  if (reader.has("overrides")) {
    const Json& overrides = reader.array("overrides");
    for (std::size_t i = 0; i < overrides.size(); ++i)
      request.overrides.push_back(read_override(overrides[i], reader.pointer_to("overrides", i)));
  }
  request.links = reader.flag_or("links", false);
  request.uncertainty = reader.flag_or("uncertainty", false);
  request.sensitivity = reader.flag_or("sensitivity", false);
  request.tensors = reader.has("tensors") ? reader.text("tensors") : "";
  request.inputs = reader.flag_or("inputs", false);
  reader.finish();
  if (!folder.empty()) enter(folder);
  return request;
}

std::string error_line(const char* kind, const std::string& pointer, const std::string& message) {
  const Json error = {{"kind", kind}, {"pointer", pointer}, {"message", message}};
  return input::json_text({{"error", error}});
}

std::string answer_line(const std::string& line) {
  try {
    const request::Request request = read_request(line);
    const request::Answer answer = request::answer(request::make_any_plan(request), request,
                                                   [](double /*share*/) { exit_if_client_gone(); });
    return "{\"result\": " + answer.json + ", \"table\": " + Json(answer.table).dump() +
           ", \"tensors\": " + answer.tensors + "}";
  } catch (const input::InputError& error) {
    return error_line("input", error.pointer(), error.what());
  } catch (const input::UserError& error) {
    return error_line("input", "", error.what());
  } catch (const std::exception& error) {
    return error_line("internal", "", error.what());
  }
}

}  // namespace

void answer_requests() {
  print(Json{{"version", output::version()}}.dump() + "\n");
  bool whole = true;
  while (const std::optional<std::string> line = next_line(std::cin, whole))
    print((whole ? answer_line(*line)
                 : error_line("input", "",
                              "a request is longer than 64 MiB; put large parts into "
                              "files that it names")) +
          "\n");
}

}  // namespace equarx::cli
