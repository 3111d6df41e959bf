#pragma once

// Joins the two ends of every message of an MSCCL algorithm.

#include <cstdint>
#include <vector>

#include "simulator/schedule/stored_schedule.h"
#include "tools/import/xml_element.h"

namespace orrery {

/// A thread block of a gpu, as the file has it.
struct ThreadBlock {
  int64_t send = -1;  // gpu, or -1 for none
  int64_t receive = -1;
  int64_t channel = 0;
  std::vector<XmlElement> elements;  // one per step
};

/// A connection is (gpu, peer, chan): its k-th send pairs with the peer's k-th receive. `steps` and
/// `blocks` are per gpu and thread block. Adds an error for each connection with a message that has
/// one end only, and for each message of two sizes.
std::vector<StoredSchedule::Message> join_messages(
    const StoredSteps& steps, const std::vector<std::vector<ThreadBlock>>& blocks);

}  // namespace orrery
