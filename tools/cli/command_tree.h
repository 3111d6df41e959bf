#pragma once

// The command line as plain data, taken from the parser, so that completions and the manual page
// cannot differ from it.

#include <string>
#include <vector>

namespace orrery {

struct OptionHelp {
  std::vector<std::string> names;    // "-o", "--output"; empty for a positional argument
  std::string takes;                 // "FILE", "text|json"; empty for a flag
  std::vector<std::string> choices;  // where it takes one of these words
  bool takes_file = false;           // completed by the names of files
  bool required = false;             // positional arguments
  bool repeats = false;              // positional arguments
  std::string about;
};

struct CommandHelp {
  std::string name;
  std::string about;
  std::vector<OptionHelp> options;    // the positional ones among them, in order
  std::vector<CommandHelp> commands;  // subcommands
  std::string examples;               // one a line, with an indent
};

/// A script for bash: sourced, or installed where bash-completion looks.
std::string bash_completion(const CommandHelp& root);

/// A script for zsh: installed in a folder of $fpath, as _orrery.
std::string zsh_completion(const CommandHelp& root);

/// Section 1 of the manual, in roff; `version` stands at its foot.
std::string manual_page(const CommandHelp& root, const std::string& version);

}  // namespace orrery
