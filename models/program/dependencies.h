#pragma once

// Which ops must wait for which others: derived from a program, never stored in it.

#include <cstdint>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include "models/program/program.h"

namespace orrery {

enum class DependencyKind : uint8_t {
  Data,   // the later op reads what the earlier one made
  Token,  // the later op ends the collective that the earlier one started
  Reuse,  // the later op takes over storage that the earlier one read
};

struct Dependency {
  DependencyKind kind = DependencyKind::Data;
};

/// Vertices are op indices; an edge runs from the op that must come first. Parallel edges of
/// different kinds are kept.
using DependencyGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                              boost::no_property, Dependency>;

DependencyGraph dependencies(const Program& program);

}  // namespace orrery
