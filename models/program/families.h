#pragma once

// The tables of rules, one per file. The order in them is free; rules.cc puts them in the order of
// OpKind.

#include <vector>

#include "models/program/rules.h"

namespace orrery {

std::vector<OpRules> collective_rules();   // and done
std::vector<OpRules> elementwise_rules();  // add, sub, mul, convert_element_type
std::vector<OpRules> movement_rules();     // reshape, transpose, slice, concatenate
std::vector<OpRules> dot_rules();          // dot_general
std::vector<OpRules>
source_rules();  // axis_index, axis_size, full, compute: results out of no operand

}  // namespace orrery
