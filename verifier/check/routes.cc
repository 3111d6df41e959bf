#include "verifier/check/routes.h"

#include <fmt/format.h>

#include "simulator/lower/reach.h"
#include "verifier/check/names.h"

namespace orrery {

Check routes_left(const Program& program, const Lowered& lowered, const Fabric& healthy,
                  Paths& paths) {
  const Fabric& cut = paths.fabric();
  const Reach reach(cut);
  for (const Collective& collective : lowered.collectives) {
    const std::optional<Unrouted> lost =
        first_unrouted(*collective.schedule, collective.vertices, paths, reach);
    if (!lost)
      continue;
    const Op& op = program.op(program.site(collective.site).ops.front());
    const std::string sender = healthy.vertex_text(lost->sender);
    const std::string receiver = healthy.vertex_text(lost->receiver);
    Witness witness = {{"collective", op.name}, {"from", sender}, {"to", receiver}};
    std::string links;
    const std::optional<Route> way = healthy.route(lost->sender, lost->receiver);
    for (const LinkId id : way.value_or(Route{})) {
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
