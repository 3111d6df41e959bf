#pragma once

// Joins the two ends of every message of an MSCCL algorithm.

#include <cstdint>
#include <vector>

#include "tools/import/msccl.h"
#include "tools/import/msccl_transfers.h"
#include "tools/import/xml_element.h"

namespace orrery {

/// A thread block of a gpu while it is read.
struct ThreadBlock {
  std::vector<XmlElement> elements;  // one per step
  Transfers transfers;               // of the steps
};

/// A connection is (gpu, peer, chan): its k-th send pairs with the peer's k-th receive. Each
/// direction belongs to one thread block. Adds an error for each message of two sizes. A connection
/// with more ends on one side is added to the algorithm's hangs; it has no messages then.
std::vector<StoredSchedule::Message> join_messages(
    MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

}  // namespace orrery
