#include "verifier/check/routes.h"

#include <fmt/format.h>

#include "simulator/lower/reach.h"
#include "verifier/check/names.h"

namespace orrery {

Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& paths) {
  const Fabric& cut = paths.fabric();
  const Reach reach(cut);
  for (const Collective& collective : lowered.collectives) {
    const std::optional<Unrouted> lost =
        first_unrouted(*collective.schedule, collective.vertices, paths, reach);
    if (!lost)
      continue;
    const Op& op = program.op(program.site(collective.site).ops.front());
    const std::string sender = cut.vertex_text(lost->sender);
    const std::string receiver = cut.vertex_text(lost->receiver);
    Witness witness = {{"collective", op.name}, {"from", sender}, {"to", receiver}};
    std::string links;
    for (const LinkId id : healthy.between(lost->sender, lost->receiver).links) {
      if (!cut.link(id).cut)
        continue;
      links += (links.empty() ? "" : ", ") + cut.link_text(id);
      witness.emplace_back("cut_link", cut.link_text(id));
    }
    return failed(CheckKind::RouteLeft, pointer_of(op),
                  fmt::format("{} cannot end: {} sends to {}, and no route is left since the link "
                              "{} is cut.",
                              quoted(op.name), sender, receiver, links),
                  std::move(witness));
  }
  return passed(CheckKind::RouteLeft, "/faults");
}

}  // namespace orrery
