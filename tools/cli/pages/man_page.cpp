#include "tools/cli/pages/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/pages/described_options.hpp"

namespace equarx::cli {
namespace {

/// Escapes text for troff: copyable hyphens, no requests.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if ((letter == '.' || letter == '\'') && (result.empty() || result.back() == '\n'))
      result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else if (letter == '\'')
      result += "\\(aq";
    else
      result += letter;
  }
  return result;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  return text;
}

/// "**--output**, **-o** *FOLDER*"
std::string head_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option_names(option))
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  if (names.empty()) return fmt::format("\\fI{}\\fR", escaped(option.get_name(true)));
  if (!takes_value(option)) return names;
  return fmt::format("{} \\fI{}\\fR", names, escaped(option.get_type_name()));
}

std::string options_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : described_options(app)) {
    const std::string& usual = option->get_default_str();
    text += fmt::format(".TP\n{}\n{}{}{}\n", head_of(*option), escaped(option->get_description()),
                        usual.empty() ? "" : fmt::format(" (default: {})", escaped(usual)),
                        option->get_required() ? " (required)" : "");
  }
  return text;
}

/// Synopsis of a subcommand: "equarx-sim run [OPTIONS] CONFIG".
std::string usage_of(const CLI::App& app, const CLI::App& command) {
  std::string text =
      fmt::format("{} {} [OPTIONS]", escaped(app.get_name()), escaped(command.get_name()));
  for (const CLI::Option* option : described_options(command)) {
    if (!option_names(*option).empty()) continue;
    const std::string name = escaped(option->get_name(true));
    text += fmt::format(fmt::runtime(option->get_required() ? " {}" : " [{}]"), name);
    if (option->get_items_expected_max() > 1) text += "...";
  }
  return text;
}

/// Converts free text: indented lines verbatim, others filled.
std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool verbatim = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim) result += indented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
    verbatim = indented;
    if (line.empty())
      result += ".PP\n";
    else
      result += escaped(std::string_view(line).substr(indented ? 2 : 0)) + "\n";
  }
  return verbatim ? result + ".RE\n.fi\n" : result;
}

std::string section_of(const CLI::App& app, const CLI::App& command) {
  std::string text = fmt::format(".SS \"{}\"\n{}\n{}", usage_of(app, command),
                                 escaped(command.get_description()), options_of(command));
  if (!command.get_footer().empty()) text += ".PP\n" + paragraphs(command.get_footer());
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  const std::string name = escaped(app.get_name());
  std::istringstream about(app.get_description());
  std::string summary;
  std::getline(about, summary);
  while (!summary.empty() && summary.back() == '.') summary.pop_back();
  std::string text = fmt::format(
      ".\\\" Generated from the command line of equarx-sim.\n"
      ".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n"
      ".ad l\n.nh\n"
      ".SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n\\fB{}\\fR \\fISUBCOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
      ".SH DESCRIPTION\n{}"
      ".SH OPTIONS\n{}"
      ".SH SUBCOMMANDS\n",
      upper(name), name, escaped(version), name, escaped(summary), name,
      paragraphs(app.get_description()), options_of(app));
  for (const CLI::App* command : described_subcommands(app)) text += section_of(app, *command);
  return text + ".SH NOTES\n" + paragraphs(app.get_footer());
}

}  // namespace equarx::cli
