#pragma once

// ORRERY_CHECK is an assertion that stays on in release builds. No input can make it fail: wrong
// input is reported through Diagnostics (diagnostics.h).

#include <stdexcept>
#include <string>

namespace orrery {

/// An InternalError is a bug in Orrery: an assertion failed. The command line exits with 3.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* relied_on, const char* file,
                             int line);

}  // namespace orrery

#define ORRERY_CHECK(condition, relied_on)             \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::orrery::fail_check(#condition, relied_on, __FILE__, __LINE__))
