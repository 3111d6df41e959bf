// Writes the scripts of completion for bash and zsh.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/command_tree.h"

namespace orrery {
namespace {

/// Calls `visit` with the command, each subcommand, and the words that select it: "show program".
template <class Visit>
void for_each_command(const CommandHelp& command, const std::string& words, const Visit& visit) {
  visit(command, words);
  for (const CommandHelp& below : command.commands)
    for_each_command(below, words.empty() ? below.name : words + " " + below.name, visit);
}

std::string bash_function(const CommandHelp& root) {
  std::string descents;  // the words that select a subcommand
  std::string values;    // the values of options
  std::string words;     // the other words that a command takes
  for_each_command(root, "", [&](const CommandHelp& command, const std::string& path) {
    for (const CommandHelp& below : command.commands)
      descents += fmt::format("      \"{} {}\") command=\"{}\" ;;\n", path, below.name,
                              path.empty() ? below.name : path + " " + below.name);
    std::vector<std::string> candidates;
    bool files = false;
    for (const CommandHelp& below : command.commands)
      candidates.push_back(below.name);
    for (const OptionHelp& option : command.options) {
      candidates.insert(candidates.end(), option.names.begin(), option.names.end());
      if (option.names.empty()) {
        candidates.insert(candidates.end(), option.choices.begin(), option.choices.end());
        files = files || option.takes_file;
        continue;
      }
      if (option.takes.empty())
        continue;
      std::vector<std::string> cases;
      for (const std::string& name : option.names)
        cases.push_back(fmt::format("\"{} {}\"", path, name));
      values += fmt::format("    {})\n      {}return ;;\n", fmt::join(cases, " | "),
                            option.takes_file        ? "_orrery_files; "
                            : option.choices.empty() ? ""
                                                     : fmt::format("_orrery_words {}; ",
                                                                   fmt::join(option.choices, " ")));
    }
    words += fmt::format("    \"{}\") {}_orrery_words {} ;;\n", path,
                         files ? "[[ $cur == -* ]] || { _orrery_files; return; }; " : "",
                         fmt::join(candidates, " "));
  });
  return fmt::format(
      "_orrery_words() {{\n"
      "  COMPREPLY=($(compgen -W \"$*\" -- \"$cur\"))\n"
      "}}\n\n"
      "_orrery_files() {{\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "  compopt -o filenames 2>/dev/null || true\n"
      "}}\n\n"
      "_orrery() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command='' "
      "i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command ${{COMP_WORDS[i]}}\" in\n{}"
      "    esac\n"
      "  done\n"
      "  case \"$command $previous\" in\n{}"
      "  esac\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n",
      descents, values, words);
}

/// Escapes text for single quotes within an _arguments specification.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == ':' || c == '[' || c == ']')
      out += std::string("\\") + c;
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// Returns the value of an option for zsh: ":FILE:_files", ":text|json:(text json)". It is "" for a
/// flag.
std::string zsh_value(const OptionHelp& option) {
  if (option.takes.empty())
    return "";
  return fmt::format(":{}:{}", zsh_text(option.takes),
                     option.takes_file ? "_files"
                     : option.choices.empty()
                         ? " "
                         : fmt::format("({})", fmt::join(option.choices, " ")));
}

std::string zsh_option(const OptionHelp& option) {
  if (option.names.empty())
    return fmt::format("'{}{}'",
                       option.repeats    ? "*"
                       : option.required ? ""
                                         : ":",
                       zsh_value(option));
  const std::string rest = fmt::format("[{}]{}", zsh_text(option.about), zsh_value(option));
  if (option.names.size() == 1)
    return fmt::format("'{}{}'", option.names[0], rest);
  return fmt::format("'({})'{{{}}}'{}'", fmt::join(option.names, " "), fmt::join(option.names, ","),
                     rest);
}

std::string function_name(const std::string& path) {
  std::string name = "_orrery";
  if (!path.empty())
    name += "_";
  for (const char c : path)
    name += c == ' ' || c == '-' ? '_' : c;
  return name;
}

std::string zsh_functions(const CommandHelp& root) {
  std::string text;
  for_each_command(root, "", [&](const CommandHelp& command, const std::string& path) {
    text += fmt::format("{}() {{\n  local curcontext=$curcontext state line\n  _arguments -C",
                        function_name(path));
    for (const OptionHelp& option : command.options)
      text += " \\\n    " + zsh_option(option);
    if (!command.commands.empty()) {
      std::string names;
      std::string calls;
      for (const CommandHelp& below : command.commands) {
        names += fmt::format(" {}\\:\"{}\"", below.name, zsh_text(below.about));
        calls += fmt::format("    {}) {} ;;\n", below.name,
                             function_name(path.empty() ? below.name : path + " " + below.name));
      }
      text += fmt::format(
          " \\\n    '1:command:(({}))' \\\n    '*::argument:->below'\n"
          "  [[ $state == below ]] && case $words[1] in\n{}  esac",
          names.substr(1), calls);
    }
    text += "\n}\n\n";
  });
  return text;
}

}  // namespace

std::string bash_completion(const CommandHelp& root) {
  return "# bash completion for orrery, made by `orrery completion bash`\n\n" +
         bash_function(root) + "\ncomplete -F _orrery orrery ./orrery\n";
}

std::string zsh_completion(const CommandHelp& root) {
  return "#compdef orrery\n# zsh completion for orrery, made by `orrery completion zsh`\n\n" +
         zsh_functions(root) +
         "# Autoloaded, this file is the function; sourced, it tells zsh of it.\n"
         "if [[ $funcstack[1] == _orrery ]]; then _orrery \"$@\"; else compdef _orrery orrery; "
         "fi\n";
}

}  // namespace orrery
