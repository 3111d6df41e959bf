// Writes the manual page.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_tree.h"

namespace orrery {
namespace {

/// Escapes hyphens, and dots and quotes that would begin a roff request.
std::string roff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n'))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string usage(const CommandHelp& command, const std::string& path) {
  std::string text = fmt::format("\\fB{}\\fR", roff(path));
  for (const OptionHelp& option : command.options) {
    if (!option.names.empty())
      continue;
    const std::string name =
        fmt::format("\\fI{}\\fR{}", roff(option.takes), option.repeats ? " ..." : "");
    text += option.required ? " " + name : fmt::format(" [{}]", name);
  }
  return text;
}

std::string options_text(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    if (option.names.empty() && option.about.empty())
      continue;
    text += ".TP\n";
    if (option.names.empty())
      text += fmt::format("\\fI{}\\fR\n", roff(option.takes));
    else
      text +=
          fmt::format("\\fB{}\\fR{}\n", roff(fmt::format("{}", fmt::join(option.names, ", "))),
                      option.takes.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.takes)));
    text += roff(option.about) + "\n";
  }
  return text;
}

std::string examples_text(const CommandHelp& command) {
  return command.examples.empty() ? "" : fmt::format(".PP\n.nf\n{}.fi\n", roff(command.examples));
}

std::string sections(const CommandHelp& command, const std::string& path) {
  std::string text;
  for (const CommandHelp& below : command.commands) {
    const std::string own = path + " " + below.name;
    if (below.commands.empty())
      text += fmt::format(".SS {}\n{}.\n{}{}", usage(below, own), roff(below.about),
                          options_text(below), examples_text(below));
    text += sections(below, own);
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandHelp& root, const std::string& version) {
  return fmt::format(
      ".TH ORRERY 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\norrery \\- simulate and verify programs that run on many devices at once\n"
      ".SH SYNOPSIS\n\\fBorrery\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]\n"
      ".SH DESCRIPTION\n{}\n"
      ".SH OPTIONS\n{}"
      ".SH COMMANDS\n{}"
      ".SH EXIT STATUS\n"
      ".TP\n0\nAll holds.\n.TP\n1\nA verdict fails or is undecided.\n.TP\n2\nThe input is wrong.\n"
      ".TP\n3\nA bug in orrery.\n"
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nNo colours on a terminal.\n"
      ".SH EXAMPLES\n.nf\n{}.fi\n",
      roff(version), roff(root.about), options_text(root), sections(root, root.name),
      roff(root.examples));
}

}  // namespace orrery
