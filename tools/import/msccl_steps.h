#pragma once

// Turns the steps of an MSCCL file into what runtimes run, as the parsers of RCCL and MSCCL do
// (mscclGetAlgoFromXmlFile), in three passes:
//
// 1. transfers_of(), for each thread block: consecutive re steps into the same place become one
//    transfer, and the waits of nops become waits of the next transfer.
// 2. resolve_waits(): a thread block has one flag, the number of its last transfer with hasdep="1".
//    A wait for a step ends once the flag has the step's number or a later one. Numbers count what
//    pass 1 made, so the step that ends a wait need not be the one that the file names.
// 3. join_messages(): the k-th send of a connection (gpu, peer, channel) pairs with the peer's k-th
//    receive.
//
// Passes 2 and 3 fill in the steps and the messages of an MscclAlgorithm. What never ends, whatever
// the slots, becomes one of its hangs.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/schedule/stored_schedule.h"
#include "tools/import/msccl.h"
#include "tools/import/msccl_xml.h"

namespace orrery {

/// The part of a step that decides how transfers are made.
struct ParsedStep {
  std::string_view type;
  bool waits = false;      // whether it names a step to wait for
  bool sets_flag = false;  // hasdep
  std::optional<Slice> source;
  std::optional<Slice> target;

  bool is_nop() const { return type == "nop"; }
};

/// Steps are named by their index in the thread block.
struct Transfer {
  std::vector<uint32_t> nops;   // those before it: it makes their waits as well as its own
  std::vector<uint32_t> steps;  // one, or a chain of re
  bool sets_flag = false;       // as its last step says
  uint32_t flag = 0;            // the number that it sets
};

struct Transfers {
  std::vector<Transfer> transfers;
  std::vector<uint32_t> last_nops;  // those that no transfer follows

  /// All steps in the order in which they run: nops come before the transfer that makes their
  /// waits, and so a nop within a chain comes after the chain.
  std::vector<uint32_t> order() const;
};

/// Pass 1, for the steps of a thread block.
Transfers transfers_of(const std::vector<ParsedStep>& steps);

/// A thread block of a gpu while it is read.
struct ThreadBlock {
  std::vector<XmlElement> elements;  // one per step
  Transfers transfers;               // of the steps
};

/// Pass 1 applied: puts the elements, the texts and the steps of a thread block in the order in
/// which they run, and sets its transfers and their flags. `parsed` has one entry per step.
void make_transfers(ThreadBlock& block, MscclBlock& read, std::vector<Step>& steps,
                    std::vector<ParsedStep> parsed);

/// The messages of all connections. Adds an error for each message whose two ends have different
/// sizes. A connection with more sends than receives, or fewer, is added to the algorithm's hangs
/// and has no messages.
std::vector<StoredSchedule::Message> join_messages(
    MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

/// Sets Step::after of each step that waits for another thread block, also of nops. A wait that no
/// step ends is added to the algorithm's hangs. Adds an error for each wait for a step that does
/// not exist. Notes what the runtimes' parsers refuse: a nop that waits before a step that does
/// not.
void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

}  // namespace orrery
