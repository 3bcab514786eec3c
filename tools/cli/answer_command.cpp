#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

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

request::Request read_request(const std::string& line) {
  const Json json = input::parse_json(line);
  // Relative paths refer to the client's current folder, which may change.
  if (json.contains("folder")) std::filesystem::current_path(json.at("folder").get<std::string>());
  request::Request request;
  request.config = json.at("config").dump();
  for (const Json& override : json.value("overrides", Json::array()))
    request.overrides.push_back({override.at(0), override.at(1)});
  request.links = json.value("links", false);
  request.uncertainty = json.value("uncertainty", false);
  request.sensitivity = json.value("sensitivity", false);
  request.tensors = json.value("tensors", "");
  request.inputs = json.value("inputs", false);
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
  for (std::string line; std::getline(std::cin, line);) print(answer_line(line) + "\n");
}

}  // namespace equarx::cli
