#include "tools/report/spread.h"

#include <algorithm>

#include "models/base/amount_text.h"
#include "models/base/check.h"

namespace orrery {

void Spread::add(Duration time) {
  if (!least_ || time > most_) {
    most_ = time;
    longest_ = count_;
  }
  least_ = std::min(least_.value_or(time), time);
  ++count_;
}

bool Spread::differs() const {
  return least_ && time_text(*least_) != time_text(most_);
}

std::string Spread::text(bool ascii) const {
  ORRERY_CHECK(least_, "a spread has a time");
  return differs() ? time_text(*least_, ascii) + " to " + time_text(most_, ascii)
                   : time_text(most_, ascii);
}

}  // namespace orrery
