#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bench/bench.h"

namespace orrery {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ChildCost run_child(std::vector<std::string> program_and_arguments) {
  std::vector<char*> arguments;
  for (std::string& argument : program_and_arguments)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const std::string& program = program_and_arguments.front();

  // On Linux this resets our own peak, which the child would inherit.
  std::ofstream("/proc/self/clear_refs") << "5";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), program);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0)
    throw std::system_error(ECHILD, std::generic_category(),
                            program + " " + program_and_arguments.back());
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), int64_t{usage.ru_maxrss} * 1024};
}

}  // namespace orrery
