#pragma once

// Shares and counts as people read them; models/base/amount_text.h has the quantities.

#include <cstdint>
#include <string>

#include "models/base/amount_text.h"

namespace orrery {

/// `part` of `whole` in percent, one decimal: "12.5 %". Requires whole > 0.
std::string percent_text(Bytes part, Bytes whole);

/// "12.5 %" for 0.125.
std::string share_text(double share);

/// "1,048,576".
std::string grouped(uint64_t number);

}  // namespace orrery
