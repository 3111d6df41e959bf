#pragma once

// Where the command line writes: the only doors to the outside, so that tests can look into them.

#include <iosfwd>
#include <ostream>

#include "tools/report/style.h"

namespace orrery {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  Style style;            // of out
  Style err_style;        // of err
  bool progress = false;  // whether err shows passing lines
};

/// stdout and stderr: colours on a terminal unless NO_COLOR is set, plain letters on one whose
/// locale is not UTF-8.
Terminal standard_terminal();

}  // namespace orrery
