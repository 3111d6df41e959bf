// The terminal of the process.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/cli/commands.h"

namespace orrery {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Returns whether the locale is UTF-8. By POSIX the first of these variables that is set and not
/// empty decides.
bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (!value.empty())
      return value.find("UTF-8") != std::string_view::npos ||
             value.find("utf8") != std::string_view::npos;
  }
  return false;
}

Style style_of(int file) {
  if (isatty(file) == 0)
    return {Colours::Plain, Letters::Unicode};
  const bool colours = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {colours ? Colours::Ansi : Colours::Plain,
          locale_is_utf8() ? Letters::Unicode : Letters::Ascii};
}

double seconds_of_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressLine::ProgressLine(const Terminal& terminal, std::string file, std::string things)
    : terminal_(terminal),
      file_(std::move(file)),
      things_(std::move(things)),
      began_(seconds_of_clock()) {}

ProgressLine::~ProgressLine() {
  if (shown_)
    terminal_.err << "\r\033[K" << std::flush;
}

void ProgressLine::show(uint64_t done, uint64_t all) {
  constexpr double kBetween = 0.2;
  const double now = seconds_of_clock();
  if (!terminal_.progress || now - last_ < kBetween)
    return;
  last_ = now;
  shown_ = true;
  const double rate = static_cast<double>(done) / (now - began_);
  terminal_.err << fmt::format("\r\033[K{}: {} of {} {}, {:.0f} a second, {:.0f} s left", file_,
                               done, all, things_, rate, static_cast<double>(all - done) / rate)
                << std::flush;
}

Terminal standard_terminal() {
  return {std::cout,
          std::cerr,
          style_of(STDOUT_FILENO),
          style_of(STDERR_FILENO),
          isatty(STDERR_FILENO) != 0,
          std::string(environment(cuda::kDriverLibraryVariable)),
          std::string(environment(cuda::kCublasLtLibraryVariable))};
}

}  // namespace orrery
