#pragma once

// The tables of rules, one per file. The order in them is free; rules.cc puts them in the order of
// OpKind.

#include <vector>

#include "models/program/rules.h"

namespace orrery {

// and done
std::vector<OpRules> collective_rules();
// pvary, preduced, ...: another state, the same elements
std::vector<OpRules> cast_rules();
// add, exp, lt, select_n, convert_element_type, ...
std::vector<OpRules> elementwise_rules();
// reshape, transpose, slice, concatenate, pad, broadcast_in_dim
std::vector<OpRules> movement_rules();
// dynamic_slice, dynamic_update_slice, take
std::vector<OpRules> indexing_rules();
// reduce_sum, reduce_max, reduce_min
std::vector<OpRules> reduction_rules();
// dot_general
std::vector<OpRules> dot_rules();
// axis_index, axis_size, full, iota, create_token, compute: results out of no operand
std::vector<OpRules> source_rules();

}  // namespace orrery
