#pragma once

// The op by which each member of a collective enters, and the values that it gives and takes there.
// In most collectives each member does both by one op. In a transfer a device is a member twice: it
// sends where it issues psend, and receives where it issues precv.

#include <cstddef>
#include <optional>
#include <span>

#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// Requires a collective.
Side side_of(const Op& op);

/// The side by which the member of this rank enters; empty if no op of the program enters as it.
std::optional<Side> side_of(std::optional<TransferGroup> group, size_t rank);

/// Which ends a group of a transfer has; empty if the site is not a psend/precv transfer.
std::optional<TransferGroup> transfer_of(const Site& site, size_t group);

/// Whether a message of a transfer is sent but never received, or received but never sent.
bool lacks_half(const Site& site);

/// The operands that a device gives by this op (CollectiveForm::exchanged_operands); none by one
/// that only receives.
std::span<const ValueId> given_by(const Op& op);

/// Whether a device takes a result by this op. By psend it gets a token, which is no data.
bool takes_result(const Op& op);

/// The types of what is exchanged. Where an op has only one side, that type stands for both.
/// Several operands that are exchanged count as one: they lie one after another along their first
/// dimension.
struct ExchangedTypes {
  ValueType operand;
  ValueType result;
};
ExchangedTypes exchanged_types(const Program& program, const Op& op);

/// Adds the op, which is or becomes one of `program`, to the site's: sends stand before receives.
void add_op(Site& site, const Program& program, OpId op, Side side);

}  // namespace orrery
