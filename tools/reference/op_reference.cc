#include "tools/reference/op_reference.h"

#include <limits>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/scenario/program_reader.h"
#include "tools/reference/parameters.h"

namespace orrery {
namespace {

constexpr std::string_view kHead =
    "# Operations\n\n"
    "Every op that a program can have, with its parameters, as `orrery show ops --format markdown` "
    "prints it: made from the table that\nthe reader goes by. What all ops have (`id`, `op`, `of`, "
    "`donate`) is in [scenario.md](scenario.md).\n";

constexpr std::string_view kCollectives =
    "## Collectives\n\n"
    "Names, parameters and results are those of JAX. NAME waits until it has ended on the device; "
    "NAME_start hands out a future, for\n`done`. All of them take `site` (collectives of different "
    "programs that meet carry the same) and these parameters, of which the\nlast ones say how it "
    "is executed and change nothing of its result. `psend` and `precv` have no "
    "`axis_index_groups`, "
    "as in\nJAX, and of the last ones `precv` has only `stream`: how a message is passed is for "
    "the "
    "sender to say.\n\n";

constexpr std::string_view kLocals =
    "## Local ops\n\n"
    "Names and parameters are those of `jax.lax`. Operands are not broadcast or converted unless "
    "an op says so.\n";

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
  const char* const results = op.most_results > 1 ? ", any number of results" : "";
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
  const std::string loop = fmt::format("\n## Loops\n\n### {}\n\n{}. Its keys are in {}.\n", kLoopOp,
                                       kLoopSummary, "[scenario.md](scenario.md#loops)");
  return fmt::format("{}\n{}{}{}{}\n{}{}{}", kHead, kCollectives, kTableHead, common, collectives,
                     kLocals, locals, loop);
}

}  // namespace orrery
