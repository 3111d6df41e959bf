#pragma once

// The command line described as plain data, read off what parses it, so that shell completion and
// the manual page say what it does.

#include <string>
#include <vector>

namespace orrery {

struct OptionHelp {
  std::vector<std::string> names;    // "-o", "--output"; none: an argument that is placed
  std::string takes;                 // "FILE", "text|json"; empty for a flag
  std::vector<std::string> choices;  // where it takes one of these words
  bool takes_file = false;           // completed by the names of files
  bool required = false;             // arguments that are placed
  bool repeats = false;              // so too
  std::string about;
};

struct CommandHelp {
  std::string name;
  std::string about;
  std::vector<OptionHelp> options;    // those that are placed among them, in their order
  std::vector<CommandHelp> commands;  // below it
  std::string examples;               // one a line, with an indent
};

/// A script for bash: sourced, or installed where bash-completion looks.
std::string bash_completion(const CommandHelp& root);

/// A script for zsh: installed in a folder of $fpath, as _orrery.
std::string zsh_completion(const CommandHelp& root);

/// Section 1 of the manual, in roff; `version` stands at its foot.
std::string manual_page(const CommandHelp& root, const std::string& version);

}  // namespace orrery
