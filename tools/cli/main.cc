// The orrery command line: arguments in, a report out, an exit code.

#include "tools/cli/commands.h"

int main(int count, char** arguments) {
  const orrery::Terminal terminal = orrery::standard_terminal();
  const orrery::Outcome outcome =
      orrery::run_command_line({arguments + 1, arguments + count}, terminal);
  terminal.out.flush();
  return static_cast<int>(outcome);
}
