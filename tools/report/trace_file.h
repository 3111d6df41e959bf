#pragma once

// Writing a Chrome trace: the text of its events, without knowing what they show.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/base/quantity.h"

namespace orrery {

/// A thread of the trace, with the process that it belongs to.
struct Row {
  uint32_t process = 0;
  uint32_t thread = 0;
};

struct Stretch {
  Instant begin;
  Instant end;
};

/// The format's times: microseconds with six decimals, exact to the picosecond.
std::string microseconds(Instant instant);

/// The beginning of an event that takes time; `name` is quoted.
std::string complete(Row row, const char* category, const std::string& name, Stretch stretch);

/// The file: one event a line, written in blocks.
class TraceFile {
 public:
  explicit TraceFile(std::ostream& out);

  /// Writes an event; `format` gives everything except the braces.
  template <class... Arguments>
  void event(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += events_++ == 0 ? "\n{" : ",\n{";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '}';
    if (text_.size() > kBlock)
      pass_on();
  }

  /// Viewers show processes, and the threads of a process, in the order of their sort indices.
  void name_process(uint32_t process, const std::string& name, uint32_t sort_index);
  void name_thread(Row row, const std::string& name, uint32_t sort_index);

  /// Ends the file. `other_data` gives the members of the object of that name.
  void end(const std::string& other_data);

  uint64_t events() const { return events_; }

 private:
  static constexpr size_t kBlock = size_t{1} << 16U;

  void pass_on();

  std::ostream& out_;
  std::string text_;
  uint64_t events_ = 0;
};

}  // namespace orrery
