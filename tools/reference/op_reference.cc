#include <limits>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/scenario/program_reader.h"
#include "tools/reference/reference.h"

namespace orrery {
namespace {

constexpr std::string_view kHead =
    "# Operations\n\n"
    "These are all ops that a program can have, with their parameters. `orrery show ops --format "
    "markdown` prints this file from the table that\nthe reader uses. The keys of every op (`id`, "
    "`op`, `of`, `donate`) are in [scenario.md](scenario.md).\n";

constexpr std::string_view kCollectives =
    "## Collectives\n\n"
    "Names, parameters and results are those of JAX. NAME waits until it has ended on the device; "
    "NAME_start gives a future, for\n`done`. All of them take `site` (collectives of different "
    "programs that meet have the same) and these parameters. Those from\n`algorithm` on say how it "
    "is executed and do not change its result. `psend` and `precv` have no `axis_index_groups`, as "
    "in JAX.\n`unreduced_psum`, `unreduced_psum_scatter`, `all_gather_invariant`, "
    "`all_gather_reduced` and `all_gather` with `to` `invarying` or `reduced` refuse\nthem, since "
    "their operand or result has one state along whole axes. `precv` has only `stream` of the "
    "parameters from `algorithm` on: its\nsender says how the message is passed.\n\n";

constexpr std::string_view kLocals =
    "## Local ops\n\n"
    "Names and parameters are those of `jax.lax`, and for `reorder_sequence` those of ejkernel. "
    "Operands are not broadcast or converted unless the op says so.\n";

constexpr std::string_view kStates =
    "\n## States\n\n"
    "Along each axis of the mesh a value is varying, unreduced, reduced or invarying "
    "([scenario.md](scenario.md#types)). With `\"check_types\": true` an\nop takes operands of "
    "certain states only; an error names the axis and the cast that repairs it. Collectives take "
    "and give these states along their axes:\n\n"
    "| op | takes | gives |\n"
    "|---|---|---|\n"
    "| `psum`, `pmean` | varying, invarying, unreduced | invarying; varying with "
    "`axis_index_groups`, which an unreduced operand may not have |\n"
    "| `pmax`, `pmin`, `pargmax`, `pargmin` | varying, invarying | invarying; varying with "
    "`axis_index_groups` |\n"
    "| `psum_scatter` | varying, invarying, unreduced | varying |\n"
    "| `all_gather`, `all_to_all`, `pswapaxes`, `ppermute`, `pshuffle`, `psend` with `precv`, "
    "`ragged_all_to_all` | varying, invarying | varying |\n"
    "| `all_gather` with `to` invarying, `all_gather_invariant` | varying, invarying | invarying "
    "|\n"
    "| `all_gather` with `to` reduced, `all_gather_reduced` | varying | reduced |\n"
    "| `pbroadcast` | varying | varying |\n"
    "| `unreduced_psum` | unreduced | invarying |\n"
    "| `unreduced_psum_scatter` | unreduced | varying |\n"
    "| `pvary` | invarying | varying |\n"
    "| `preduced` | invarying | reduced |\n"
    "| `vary_unreduced_cast` | varying | unreduced |\n"
    "| `reduced_vary_cast` | reduced | varying |\n"
    "| `pcast` | one of these four, by the state that it has and `to` | |\n\n"
    "A collective that takes invarying and varying operands casts an invarying one by `pvary` "
    "first: so `psum` of an invarying value multiplies it\nby the size of the group. All the axes "
    "of a sum must have one state. `all_gather_reduced` and `pbroadcast` cast nothing. Along other "
    "axes a state\nstays as it is; but `pmean`, `pmax`, `pmin`, `pargmax` and `pargmin` refuse a "
    "value that is unreduced over one.\n\n"
    "The operands of a local op must have one state along each axis, and the result has it. Along "
    "an axis over which one of them varies, invarying ones\nare cast by `pvary`, and reduced ones "
    "by `reduced_vary_cast`, if they are reduced over exactly the axes over which only others "
    "vary. Nothing else is cast:\n\n"
    "- If all operands are unreduced, the ops that are linear in them together take them, and "
    "their "
    "result is unreduced: `add`, `sub`, `neg`, `real`, `imag`, `conj`,\n  `complex`, "
    "`convert_element_type` among floats and complex numbers, `select_n`, `reshape`, `transpose`, "
    "`slice`, `concatenate`, `split`, `pad`, `broadcast_in_dim`,\n  "
    "`reorder_sequence`, `dynamic_slice`, "
    "`dynamic_update_slice`, `take` (with zeros for rows that do not exist), `scatter_add`, "
    "`reduce_sum`. `mul` takes one that is\n  unreduced if the other is "
    "reduced. Other ops refuse them.\n"
    "- If all operands are reduced, every op takes them, and its result is reduced.\n"
    "- Indices, and the first operand of `select_n`, may have any state if their copies are equal, "
    "and so may the value that `pad` puts around a reduced operand. They must not be "
    "unreduced.\n"
    "- A result of `optimization_barrier` has the states of its operand.\n";

/// Escapes bars, which would end a table cell.
std::string cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, 1, '\\');
  return text;
}

std::string row(const Parameter& parameter) {
  const bool required = parameter.need == Parameter::Need::Required;
  const std::string otherwise = parameter_default(parameter);
  return fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, cell(parameter_domain(parameter)),
                     required            ? "required"
                     : otherwise.empty() ? "optional"
                                         : fmt::format("`{}` when absent", otherwise),
                     cell(std::string(parameter_summary(parameter.name))));
}

/// Each behaviour of JAX was seen in 0.10.2 or is in its source, and each of ours has a test.
constexpr std::string_view kDifferences =
    "\n## Where JAX differs\n\n"
    "| | JAX 0.10.2 | here |\n"
    "|---|---|---|\n"
    "| `psum`, `pmax`, `pmin` over dimensions too, states checked | refused | reduced on each "
    "device "
    "first, then over the axes |\n"
    "| `pmean`, groups of unequal sizes | divides by the size of the first group, in every group | "
    "divides by the group's own size |\n"
    "| `psum` of a constant, groups of unequal sizes | multiplies by the size of the first group, "
    "in every group | adds over each group |\n"
    "| `pmean` of pred over no axes | f64 | f32, as over any axes |\n"
    "| `ppermute` over no axes without pairs (`perm` `[]`) | zeros | the operand, as with the pair "
    "[0, 0] |\n"
    "| a dimension out of range of `all_gather` or `psum_scatter` over no axes | accepted | "
    "refused "
    "|\n"
    "| `psum`, `psum_scatter`, `pmean` of unreduced preds | preds, and f64 | counted in s32, as of "
    "others; the mean "
    "in f32; `psum_scatter` refuses preds |\n"
    "| `pmax`, `pmin` of an operand that is unreduced over another axis | unreduced there | "
    "refused: extrema of the addends are not those of the sum |\n"
    "| `pmax`, `pmin` with groups, states checked | the result is invarying over the axis, though "
    "groups differ | it stays varying |\n"
    "| `axis_index_groups` that leave ranks out | not refused for all ops | refused |\n"
    "| `ppermute`, `pshuffle`, `psend`, `precv` over axes in another order than the mesh's | ranks "
    "are sorted by device, so they differ from those of other collectives | refused |\n"
    "| an index in `perm` that is no rank | negative ones count from the end, others fail late | "
    "refused |\n"
    "| `precv`, `ragged_all_to_all` | the result has the states of the shape or of `output` alone "
    "| it varies over what any operand varies over |\n"
    "| `unreduced_psum`, casts and `all_gather_reduced` over several axes | accepts an operand of "
    "which one axis has the state | every axis must have it |\n"
    "| NaN and zeros in `pmax`, `pmin` on the CPU | NaN is passed over, the first of -0 and +0 "
    "stays | IEEE 754: NaN wins, -0 < +0; with `\"numerics\": \"xla-cpu\"` as JAX |\n"
    "| `max`, `min`, comparisons of complex numbers | by the real part, then the imaginary part | "
    "refused |\n"
    "| `sqrt` of -1 - 0i | i | -i, as in C and NumPy |\n"
    "| the transpose of an untiled `all_to_all` with `split_axis` other than `concat_axis` | a "
    "cotangent of the wrong shape | `all_to_all` with both exchanged |\n"
    "| the gradient of `pbroadcast` | TypeError | the sum of the cotangents, at the source |\n"
    "| the gradient of a row that a `ragged_all_to_all` sends in several slices | the cotangent of "
    "one of them | their sum |\n"
    "| the gradient of the output of a `ragged_all_to_all` with a slice without rows | zeros in "
    "other rows than those over which slices came | zeros in these |\n"
    "| -0 outside of the slice, in a sum of gradients of slices of an array | becomes +0 | stays "
    "-0 "
    "|\n"
    "| the gradient of `psend` and `precv` | refused | the same transfer, the other way round |\n"
    "| `psend`, `precv` in a batch | an error in the rule | batched as `ppermute` |\n"
    "| an untiled `psum_scatter` of a batch whose dimension is after `scatter_dimension` | the "
    "batch is along another dimension of the result | along the dimension before |\n"
    "| `preduced`, `reduced_vary_cast`, `vary_unreduced_cast`, `unreduced_psum`, "
    "`unreduced_psum_scatter`, `all_gather_reduced` in "
    "a batch under `shard_map` | refused | batched as others |\n"
    "| a `ppermute` over the batched axis that has no pair for some rank | refused, or takes the "
    "place of rank 0 | zeros there |\n"
    "| a started collective in a batch or a gradient | refused | batched as one; goes back as its "
    "sync op |\n"
    "| `neg`, `sub`, `real`, `imag`, `conj`, `complex` of unreduced operands | refused | "
    "unreduced: they are linear |\n"
    "| `take`, `scatter_add` of unreduced operands | the result is invarying, though its copies "
    "differ | unreduced |\n"
    "| `reduce_max`, `reduce_min` of an unreduced operand | the result is invarying, though its "
    "copies differ | refused: they are not those of the sum |\n"
    "| `convert_element_type` of an unreduced operand to or from integers | unreduced | refused: "
    "it "
    "rounds, or wraps around, each addend |\n"
    "| `select_n` whose first operand is unreduced | the result has the states of the cases | "
    "refused |\n"
    "| `concatenate`, `pad`, `select_n` of an unreduced operand beside a reduced one | both at "
    "once, or "
    "reduced | refused, as of `add` |\n"
    "| `pmean` of an operand that is reduced over another axis | refused | reduced |\n"
    "| `logistic`, `conj` of floats, `sin` and `cos` of complex numbers, of a reduced operand | "
    "accepted by "
    "the tracer, then refused | reduced |\n"
    "| `preduced` of an unreduced operand | unreduced and reduced at once | refused |\n"
    "| `dynamic_slice`, `dynamic_update_slice`, `take`, `scatter_add` at indices that are reduced "
    "| refused | as at others whose copies are equal |\n"
    "| `scatter_add` of no elements | the array, with its states alone | the states of all "
    "operands |\n"
    "| `concatenate`, `pad`, `select_n`, `scatter_add` of an unreduced operand beside an invarying "
    "one | unreduced, and a sum counts the invarying elements once for each copy; of `scatter_add` "
    "invarying | refused, as of `add` |\n"
    "| `concatenate`, `select_n`, `scatter_add`, `dot_general` of a reduced operand beside an "
    "invarying one | accepted; the gradient is refused, and that of `select_n` has one addend of "
    "several | refused, as of `add` and `mul`; `preduced` makes both reduced |\n"
    "| `pargmax`, `pargmin` of an operand that is reduced over another axis | the result is "
    "invarying there | "
    "reduced; nothing depends on it, since ranks have no cotangents |\n"
    "| `reduce_max`, `reduce_min`, `take`, `scatter_add`, `dot_general` of reduced operands | the "
    "result is invarying, and the gradient is refused | reduced; gradients are "
    "addends, and that of `dot_general` is refused, which takes none |\n"
    "| a future that no `done` reads, or two | accepted by the tracer | a check of the report "
    "fails |\n";

constexpr std::string_view kTableHead =
    "| parameter | what | given | meaning |\n|---|---|---|---|\n";

std::string operands(const OpRules& op) {
  if (op.most_operands == 0)
    return "no operands";
  if (op.most_operands == std::numeric_limits<size_t>::max())
    return op.least_operands == 0   ? "any number of operands"
           : op.least_operands == 1 ? "1 operand or more"
                                    : fmt::format("{} operands or more", op.least_operands);
  if (op.least_operands != op.most_operands)
    return fmt::format("{} to {} operands", op.least_operands, op.most_operands);
  return op.most_operands == 1 ? "1 operand" : fmt::format("{} operands", op.most_operands);
}

std::string section(const OpRules& op) {
  const bool collective = op.family == Family::Collective;
  const std::string results = op.most_results == 1 ? ""
                              : op.most_results == std::numeric_limits<size_t>::max()
                                  ? ", any number of results"
                                  : fmt::format(", {} results", op.most_results);
  std::string text =
      fmt::format("\n### {}\n\n{}{}: {}.\n", op.name, operands(op), results, op.summary);
  std::string rows;
  for (const Parameter& parameter : op.parameters)
    if (!collective || !is_common(parameter))
      rows += row(parameter);
  if (!rows.empty())
    text += fmt::format("\n{}{}", kTableHead, rows);
  return text;
}

}  // namespace

std::string op_reference() {
  std::string common;
  std::string collectives;
  std::string locals;
  for (const OpRules& op : all_rules()) {
    if (op.family == Family::Collective && common.empty())
      for (const Parameter& parameter : op.parameters)
        if (is_common(parameter))
          common += row(parameter);
    (op.family == Family::Local ? locals : collectives) += section(op);
  }
  collectives += fmt::format("\n### {}\n\n{}. Its keys are in {}.\n", kGroupOp, kGroupSummary,
                             "[scenario.md](scenario.md#groups-of-sends-and-receives)");
  for (const auto& [name, summary] :
       {std::pair(kToGroupsOp, kToGroupsSummary), std::pair(kToMeshOp, kToMeshSummary)})
    collectives += fmt::format("\n### {}\n\n{}. Its keys are in {}.\n", name, summary,
                               "[scenario.md](scenario.md#arrays-on-groups-of-devices)");
  const std::string loop = fmt::format("\n## Loops\n\n### {}\n\n{}. Its keys are in {}.\n", kLoopOp,
                                       kLoopSummary, "[scenario.md](scenario.md#loops)");
  return fmt::format("{}\n{}{}{}{}\n{}{}{}{}{}", kHead, kCollectives, kTableHead, common,
                     collectives, kLocals, locals, loop, kStates, kDifferences);
}

}  // namespace orrery
