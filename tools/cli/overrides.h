#pragma once

// These options override what a scenario says: --algorithm OP=ALGORITHM says how the collectives of
// one op are scheduled where they do not say it, --cluster-figure NAME=VALUE sets a figure, and
// --let NAME=VALUE,.. makes a scenario of a law.

#include <map>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/law.h"
#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Gives the algorithm to each op of that name, started or not, that names none. Returns the
/// settings that set no op, by the name of their op, each with what is wrong. Throws InputError for
/// an op that is not a collective, an algorithm that does not serve it, and an op that is named
/// twice.
std::map<std::string, std::string> set_algorithms(Program& program,
                                                  const std::vector<std::string>& settings);

/// Throws InputError with the first setting that set_algorithms() returned, if there is any.
void refuse_unused(const std::map<std::string, std::string>& unused);

/// Returns the cluster with the figures set, one after the other. Names are those of a cluster's
/// file, joined by slashes: "latency", "flops/bf16", "transport/ll/latency",
/// "transport/host_launch/psum". Reports label them overridden. Throws InputError for an unknown
/// name, for a value that is not of the figure's kind, and for the bandwidth or latency of links
/// that each have their own.
Cluster with_figures(Cluster cluster, const std::vector<std::string>& settings,
                     const Limits& limits);

/// Makes a scenario of a law, with the values of each --let: "n=4,dtype=bf16,perm=[1,0]". Commas in
/// brackets or quotes separate nothing. A value is JSON, and a text may be without quotes. A name
/// without a value has its least. Arrays that say nothing of their elements have whole numbers, and
/// a law without a cluster gets a plain switch.
Scenario with_values(const Law& law, const std::vector<std::string>& lets);

/// Gives names of a plan one value each, in the place of their sweep. The texts are as above.
void let_values(Plan& plan, const std::vector<std::string>& lets);

/// Refuses a text that is a law or a plan, and says which commands run it.
void refuse_template(const std::string& file, const std::string& text, const Limits& limits);

}  // namespace orrery
