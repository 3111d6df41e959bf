#include "models/base/check.h"

namespace orrery {

void fail_check(const char* condition, const char* relied_on, const char* file, int line) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": relied on \"" +
                      relied_on + "\", but not (" + condition + ")");
}

}  // namespace orrery
