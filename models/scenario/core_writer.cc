// This part of attribute_text.h writes the functions of an mpmd_map, with its other keys.

#include <fmt/format.h>

#include "models/program/core_map.h"
#include "models/program/rules.h"
#include "models/scenario/attribute_text.h"

namespace orrery {

namespace {

using Members = std::vector<std::pair<std::string, JsonText>>;

JsonText ref_text(const CoreRef& ref) {
  if (!ref.row)
    return JsonText::text(ref.name);
  return JsonText::list(
      {JsonText::text(ref.name),
       JsonText::object({{"row", ref.row->axis ? JsonText::text(*ref.row->axis)
                                               : integer_text(ref.row->number)}})});
}

JsonText scratch_text(const CoreScratch& scratch) {
  Members members;
  if (scratch.semaphore) {
    members.emplace_back("semaphore", JsonText::raw("true"));
    if (scratch.shape.rank() > 0)
      members.emplace_back("shape", integers_text(scratch.shape.dims()));
    return JsonText::object(std::move(members));
  }
  members.emplace_back("shape", integers_text(scratch.shape.dims()));
  members.emplace_back("dtype", JsonText::text(name(scratch.dtype)));
  members.emplace_back("space", JsonText::text(name(scratch.space)));
  if (scratch.core)
    members.emplace_back("core", JsonText::text(*scratch.core));
  return JsonText::object(std::move(members));
}

JsonText mesh_text(const CoreMesh& mesh) {
  Members members = {{"type", JsonText::text(name(mesh.type))},
                     {"name", JsonText::text(mesh.name)},
                     {"core_axis", JsonText::text(mesh.axes[0].name)},
                     {"cores", integer_text(mesh.axes[0].size)}};
  if (mesh.axes.size() > 1) {
    members.emplace_back("subcore_axis", JsonText::text(mesh.axes[1].name));
    members.emplace_back("subcores", integer_text(mesh.axes[1].size));
  }
  return JsonText::object(std::move(members));
}

JsonText op_text(const CoreOp& op) {
  Members members = {{"op", JsonText::text(word(op))}};
  switch (op.kind) {
    case CoreOp::Kind::Signal:
    case CoreOp::Kind::Wait:
      members.emplace_back("sem", ref_text(op.of.front()));
      members.emplace_back(op.kind == CoreOp::Kind::Signal ? "by" : "for", integer_text(op.amount));
      return JsonText::object(std::move(members));
    case CoreOp::Kind::Copy:
      members.emplace_back("from", ref_text(op.of.front()));
      break;
    case CoreOp::Kind::Local:
      if (op.of.size() == 1)
        members.emplace_back("of", ref_text(op.of.front()));
      else if (op.of.size() > 1)
        members.emplace_back("of", list_text(op.of, ref_text));
      for (const Parameter& parameter : rules(op.op).parameters)
        if (const auto given = op.attributes.all().find(parameter.name);
            given != op.attributes.all().end())
          members.emplace_back(std::string(parameter.name),
                               attribute_text(given->second, parameter.kind));
  }
  members.emplace_back("to", ref_text(*op.to));
  return JsonText::object(std::move(members));
}

JsonText estimate_text(const CoreEstimate& estimate) {
  return JsonText::object(
      {{"flops", integer_text(estimate.flops)},
       {"transcendentals", integer_text(estimate.transcendentals)},
       {"bytes_accessed", integer_text(estimate.bytes_accessed)},
       {"remote_bytes_transferred", integer_text(estimate.remote_bytes_transferred)}});
}

}  // namespace

std::vector<std::pair<std::string, JsonText>> core_map_members(const CoreMap& map) {
  Members members;
  members.emplace_back("out", list_text(map.out, [](const CoreOutput& out) {
                         return JsonText::object({{"shape", integers_text(out.shape.dims())},
                                                  {"dtype", JsonText::text(name(out.dtype))}});
                       }));
  if (map.scratch_is_list) {
    members.emplace_back("scratch", list_text(map.scratch, scratch_text));
  } else if (!map.scratch.empty()) {
    Members scratch;
    for (const CoreScratch& each : map.scratch)
      scratch.emplace_back(each.name, scratch_text(each));
    members.emplace_back("scratch", JsonText::object(std::move(scratch)));
  }
  Members aliases;
  for (const auto& [input, output] : map.aliases)
    aliases.emplace_back(fmt::format("{}", input), integer_text(output));
  if (!aliases.empty())
    members.emplace_back("aliases", JsonText::object(std::move(aliases)));
  if (map.estimate)
    members.emplace_back("cost_estimate", estimate_text(*map.estimate));
  members.emplace_back("functions", list_text(map.functions, [](const CoreFunction& function) {
                         return JsonText::object({{"mesh", mesh_text(function.mesh)},
                                                  {"body", list_text(function.body, op_text)}});
                       }));
  return members;
}

}  // namespace orrery
