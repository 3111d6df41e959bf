// The orrery command line takes arguments, writes a report, and returns an exit code.

#include <csignal>

#include <malloc.h>

#include "tools/cli/commands.h"

namespace {

/// Lets a run keep the memory that it frees, and find it quickly. By default tables above 128 KiB
/// go back to the system, and the next one gets fresh pages, which are cleared first. That takes up
/// to a tenth of a run's time. Tables above 4 MiB still go back, so that the peak does not grow.
void keep_freed_memory() {
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 4 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
  mallopt(M_TOP_PAD, kMiB);
  // Freed chunks join their neighbours at once. Otherwise glibc joins all small ones each time that
  // a table is freed: without this, 20,000 psums took 5 % more CPU time (2026-12-01).
  mallopt(M_MXFAST, 0);
}

}  // namespace

int main(int count, char** arguments) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error, which is told
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
