#include "models/base/quantity.h"

namespace orrery {

void throw_overflow(const char* what) {
  throw Overflow(what);
}

}  // namespace orrery
