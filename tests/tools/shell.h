#pragma once

// Runs commands as a user types them.

#include <array>
#include <cstdio>
#include <ostream>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

namespace orrery::test {

struct Launched {
  int status = 0;
  std::string said;  // stdout and stderr

  bool operator==(const Launched&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Launched& launched) {
  return out << "exit " << launched.status << ": " << launched.said;
}

/// Runs the command by /bin/sh, without input.
inline Launched shell(const std::string& command) {
  std::FILE* const pipe = popen(("{ " + command + "; } 2>&1 </dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Launched launched;
  std::array<char, 4096> part{};
  for (size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    launched.said.append(part.data(), n);
  launched.status = WEXITSTATUS(pclose(pipe));
  return launched;
}

}  // namespace orrery::test
