#pragma once

// Makes cases for every collective x kind of group x tiled or not x rank 1 to 4 x 2..17 members.
// Each case has random shapes and data, and runs by each algorithm, sync and started. Over an even
// number of members, messages are cut to slots of 64 B.
//
// A case takes every third dtype, so that each dtype has its turn. With ORRERY_EVERY_DTYPE set, it
// takes all dtypes.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/random.h"
#include "models/program/rules.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

enum class Grouping : uint8_t { OneAxis, Strided, TwoAxes, Groups, UnequalGroups };
inline constexpr std::array kGroupings = {Grouping::OneAxis, Grouping::Strided, Grouping::TwoAxes,
                                          Grouping::Groups, Grouping::UnequalGroups};

const char* name_of(Grouping grouping);

struct Case {
  OpKind kind;
  int64_t n;  // members
  Grouping grouping;
  bool tiled;
  int64_t rank;  // of the operand
};

/// These are the parameters of an op.
using Parameters = std::vector<std::pair<std::string, Attribute>>;

/// Returns all collectives except three groups: those that exchange as another one does, between
/// other states; the ragged exchange (ragged_test.cc); and transfers, which members enter by two
/// ops (transfers_test.cc).
std::vector<OpKind> collectives();

/// Returns why such a collective does not exist; empty if it exists.
std::optional<std::string> refused(OpKind kind, Dtype dtype, Grouping grouping);

std::vector<Axis> axes_of(const Case& c);

struct Call {
  Shape operand;
  Parameters parameters;
};

/// Returns the call of a case. It is the same each time if `random` is new.
Call random_call(const Case& c, Random& random);

/// Returns the cases of groups of 2 to `most_ranks` ranks. Each size up to 17 has cases of ranks 1
/// to 4 of the operand, and each larger size those of one of them.
std::vector<Case> cases_of(OpKind kind, int64_t most_ranks = 17);

/// A `Trial` is one collective of a case.
struct Trial {
  Dtype dtype;
  Issue issue;
  std::string algorithm;
};

std::vector<Trial> trials_of(const Case& c);

uint64_t seed(const Case& c);

/// Adds the trials of a case to an empty rig over the case's axes. The name of each trial's op is
/// that of its dtype.
void add_trials(const Case& c, HostRig& rig);

}  // namespace orrery::test
