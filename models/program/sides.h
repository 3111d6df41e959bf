#pragma once

// These functions say by which op each member of a collective enters, and which values it gives and
// takes there. In most collectives each member gives and takes by one op. In a transfer a device
// may be a member twice: it sends by a psend, and receives by a precv.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// Returns the side by which the op enters. Requires a collective.
Side side_of(const Op& op);

/// Returns the side by which the member of this rank enters. In a pair the first sends.
Side side_of(std::optional<TransferGroup> group, size_t rank);
/// Returns the same, or nothing if no op of the program enters as this member.
std::optional<Side> side_of(const Site& site, GroupMember member);

/// Returns which ends a group has, or nothing if the site is not a psend/precv transfer.
std::optional<TransferGroup> transfer_of(const Site& site, size_t group);

/// Returns the ranks of a group by which no op of the program enters, ascending.
std::vector<uint32_t> absent_ranks(const Site& site, size_t group);

/// Returns the operands that a device gives by this op (CollectiveForm::exchanged_operands). An op
/// that only receives gives none.
std::span<const ValueId> given_by(const Op& op);

/// Returns whether a device takes a result by this op. A psend gives a token, which is no data.
bool takes_result(const Op& op);

/// Returns the operand that the op hands on as this result, if it is a token: an
/// optimization_barrier gives each of its operands as a result. The message of a token is the one
/// of the psend that gave it, also through such ops. Requires an op that sends nothing.
std::optional<ValueId> token_handed_on(const Op& op, size_t result);

/// Returns the site at which the message of a token is sent; nothing if it leads to no psend.
std::optional<SiteId> sent_site(const Program& program, ValueId token);
/// Returns whether the op is a precv that meets its psend by the name of a site, not by a token.
bool receives_by_site(const Program& program, const Op& op);

/// Returns the type of the exchanged operand. Several exchanged operands count as one: they lie one
/// after another along their first dimension. An op that only receives has none; the type of its
/// result stands for it.
ValueType exchanged_operand(const Program& program, const Op& op);

/// ExchangedTypes are the types of the exchanged tensors. If an op has only one side, the type of
/// that side stands for both.
struct ExchangedTypes {
  ValueType operand;
  ValueType result;
};
ExchangedTypes exchanged_types(const Program& program, const Op& op);

/// Returns whether a communication library discards a collective whose operand has so many
/// elements, as NCCL does with none (taskAppend, src/enqueue.cc). Its members neither wait nor
/// send, and nothing is launched. A psend and its precv are carried out without elements too:
/// libraries pass such messages, and they order the two ends.
bool is_discarded(OpKind kind, int64_t elements);
/// Returns the same for the exchanged elements of an op. Requires a collective.
bool is_discarded(const Program& program, const Op& op);

/// Adds the op, which is or will be one of `program`, to the site. Sends stand before receives.
void add_op(Site& site, const Program& program, OpId op, Side side);

}  // namespace orrery
