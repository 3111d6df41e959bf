#pragma once

// The output streams of the command line, which tests replace.

#include <iosfwd>
#include <ostream>

#include "tools/report/style.h"

namespace orrery {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  Style style;            // of out
  Style err_style;        // of err
  bool progress = false;  // whether err may show progress lines that are overwritten
};

/// stdout and stderr: colours on a terminal unless NO_COLOR is set, ASCII where its locale is not
/// UTF-8.
Terminal standard_terminal();

}  // namespace orrery
