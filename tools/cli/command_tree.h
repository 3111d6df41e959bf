#pragma once

// This is the command line as plain data, taken from the parser. So completions and the manual page
// cannot differ from it.

#include <string>
#include <vector>

namespace orrery {

struct OptionHelp {
  std::vector<std::string> names;    // "-o", "--output"; empty for a positional argument
  std::string takes;                 // "FILE", "text|json"; empty for a flag
  std::vector<std::string> choices;  // the words that it takes, if it takes one of several
  bool takes_file = false;           // whether names of files complete it
  bool required = false;             // only set for positional arguments
  bool repeats = false;              // only set for positional arguments
  std::string about;
};

struct CommandHelp {
  std::string name;
  std::string about;
  std::vector<OptionHelp> options;    // the positional ones among them, in order
  std::vector<CommandHelp> commands;  // subcommands
  std::string examples;               // one per line, with an indent
};

/// Returns a script for bash, to be sourced or installed where bash-completion looks.
std::string bash_completion(const CommandHelp& root);

/// Returns a script for zsh, to be installed as _orrery in a folder of $fpath.
std::string zsh_completion(const CommandHelp& root);

/// Returns section 1 of the manual, in roff; `version` stands at its foot.
std::string manual_page(const CommandHelp& root, const std::string& version);

}  // namespace orrery
