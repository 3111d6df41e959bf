#pragma once

// Turns the steps of an MSCCL file into what runtimes run, as the parsers of RCCL and MSCCL do
// (mscclGetAlgoFromXmlFile), in three passes:
//  1. transfers_of() goes over each thread block. It makes one transfer of consecutive re steps
//     into the same place, and the waits of nops become waits of the next transfer.
//  2. resolve_waits() finds the step that ends each wait. A thread block has one flag, the number
//     of its last transfer with hasdep="1". A wait for a step ends once the flag has the step's
//     number or a later one. Numbers count the steps as pass 1 ordered them, so the step that ends
//     a wait need not be the one that the file names.
//  3. join_messages() pairs the k-th send of a connection (gpu, peer, channel) with the peer's k-th
//     receive.
//
// The steps of a thread block are in the order of the file: the parsers compare s="1" with their
// limit and do not read it otherwise.
//
// Passes 2 and 3 fill in the steps and the messages of an MscclAlgorithm. A wait that never ends,
// with any number of slots, becomes one of its hangs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/stored_schedule.h"
#include "tools/import/msccl.h"
#include "tools/import/msccl_xml.h"

namespace orrery {

/// This is the part of a step that decides how transfers are made.
struct ParsedStep {
  std::string_view type;
  bool waits = false;      // whether it names a step to wait for
  bool sets_flag = false;  // hasdep
  std::optional<Slice> source;
  std::optional<Slice> target;

  bool is_nop() const { return type == "nop"; }
};

/// A transfer is one or more steps that runtimes run as one. Steps are named by their index in the
/// thread block.
struct Transfer {
  std::vector<uint32_t> nops;   // those right before it: it makes their waits as well as its own
  std::vector<uint32_t> steps;  // one, or a chain of re
  bool sets_flag = false;       // as its last step says
  uint32_t flag = 0;            // the number that it sets
};

struct Transfers {
  std::vector<Transfer> transfers;
  std::vector<uint32_t> last_nops;  // those that no transfer follows

  /// Returns all steps in the order in which they run. Nops come before the transfer that makes
  /// their waits. So a nop within a chain comes after the chain.
  std::vector<uint32_t> order() const;
};

/// Does pass 1 for the steps of a thread block.
Transfers transfers_of(const std::vector<ParsedStep>& steps);

/// This is a thread block of a gpu while it is read.
struct ThreadBlock {
  std::vector<XmlElement> elements;  // one per step
  Transfers transfers;               // of the steps
};

/// Applies pass 1: puts the elements, the texts and the steps of a thread block in the order in
/// which they run, and sets its transfers and their flags. `parsed` has one entry per step.
void make_transfers(ThreadBlock& block, MscclBlock& read, std::vector<Step>& steps,
                    std::vector<ParsedStep> parsed);

/// Returns the messages of all connections. Adds an error for each message whose two ends have
/// different sizes. A connection with more sends than receives, or fewer, is added to the
/// algorithm's hangs and has no messages.
std::vector<StoredSchedule::Message> join_messages(
    MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

/// Returns how runtimes number steps, if some steps state another number (MscclStepText::stated),
/// with the first of them.
std::optional<std::string> order_note(const MscclAlgorithm& algorithm);

/// Sets Step::after of each step that waits for another thread block, also of nops. A wait that no
/// step ends is added to the algorithm's hangs. Adds an error for each wait for a step that does
/// not exist. Notes a thing that the runtimes' parsers refuse: a nop that waits, before a step that
/// does not wait.
void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

}  // namespace orrery
