#pragma once

// Which algorithm a site gets: the scenario's, or the model's with the reason.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// A group of a site, as far as the choice goes. `hops` is as EstimateRequest wants it; empty where
/// there is no way to some rank, no other rank, or too many to look.
struct GroupFigures {
  uint32_t nodes = 1;
  std::vector<Hop> hops;
};

struct SiteFigures {
  OpKind kind = OpKind::Psum;
  std::optional<std::string> asked_for;  // the op's "algorithm"
  uint32_t channels = 1;
  int64_t elements = 0;  // of one device's operand
  Bytes itemsize;
  std::vector<GroupFigures> groups;
};

struct Pick {
  const Algorithm* algorithm;
  std::string because;
};

/// By name, where the scenario asks for one; else of those that fit all groups the only one, or the
/// one with the least estimate for its slowest group (equal ones go to the first of the table), or
/// the first whose limit the largest group keeps. A fault where the name is none of the kind's, or
/// nothing fits.
std::variant<Pick, TypeFault> pick_algorithm(const SiteFigures& site);

}  // namespace orrery
