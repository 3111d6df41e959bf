// The orrery command line: arguments in, a report out, an exit code.

#include "tools/cli/commands.h"

int main(int count, char** arguments) {
  const orrery::Terminal terminal = orrery::standard_terminal();
  const orrery::Outcome outcome =
      orrery::run_command_line({arguments + 1, arguments + count}, terminal);
  terminal.out.flush();
  if (!terminal.out) {
    terminal.err << "orrery: the output could not be written\n";
    return static_cast<int>(orrery::Outcome::WrongInput);
  }
  return static_cast<int>(outcome);
}
