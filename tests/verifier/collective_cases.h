#pragma once

// Every collective x kind of group x tiled or not x rank 1 to 4 x 2..17 members. Each has random
// shapes and data, and is run by each algorithm, waited for and started. Over an even number of
// members, messages are cut to slots of 64 B.
//
// A case takes every third dtype, each dtype in its turn; with ORRERY_EVERY_DTYPE set, all of them.

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

/// The parameters of an op.
using Parameters = std::vector<std::pair<std::string, Attribute>>;

/// All but three groups: those that exchange as another does, between other states; the ragged
/// exchange (ragged_test.cc); and transfers, which members enter by two ops (transfers_test.cc).
std::vector<OpKind> collectives();

/// Why such a collective does not exist, where it does not.
std::optional<std::string> refused(OpKind kind, Dtype dtype, Grouping grouping);

std::vector<Axis> axes_of(const Case& c);

struct Call {
  Shape operand;
  Parameters parameters;
};

/// The call of a case; as long as `random` is new, the same each time.
Call random_call(const Case& c, Random& random);

std::vector<Case> cases_of(OpKind kind);

/// One collective of a case.
struct Trial {
  Dtype dtype;
  Issue issue;
  std::string algorithm;
};

std::vector<Trial> trials_of(const Case& c);

uint64_t seed(const Case& c);

/// Makes a program of the trials of a case, in a rig over its axes that is still empty. The name of
/// each trial's op is its dtype's.
void add_trials(const Case& c, HostRig& rig);

}  // namespace orrery::test
