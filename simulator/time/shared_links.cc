#include "simulator/time/shared_links.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "simulator/schedule/list_progress.h"

namespace orrery {

namespace {

class Sharing {
 public:
  Sharing(const Program& program, const Lowered& lowered, Paths& paths,
          FunctionRef<bool(LinkId)> counts)
      : lowered_(lowered),
        lists_(program, lowered),
        paths_(paths),
        counts_(counts),
        set_(program.threads.size()),
        first_(paths.fabric().links().size()) {
    std::iota(set_.begin(), set_.end(), 0U);
  }

  std::vector<uint32_t> run() {
    for (uint32_t c = 0; set_.size() > 1 && c < lowered_.collectives.size(); ++c)
      look_at(CollectiveId(c));
    for (uint32_t t = 0; t < set_.size(); ++t)
      set_[t] = least(t);
    return std::move(set_);
  }

 private:
  void look_at(CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    std::vector<ThreadId> threads;  // per member
    for (uint32_t n = 0; n < collective.members.size(); ++n)
      threads.push_back(lists_.thread_of(id, Node(n)));
    if (!seen_.emplace(collective.schedule, &*collective.vertices.begin(), threads).second)
      return;
    const Extent& extent = collective.schedule->extent();
    for (uint32_t n = 0; n < extent.nodes; ++n) {
      // A switch sends for all members.
      const std::span<const ThreadId> senders =
          n < threads.size() ? std::span(threads).subspan(n, 1) : std::span(threads);
      for (uint32_t c = 0; c < extent.channels; ++c)
        collective.schedule->for_each_receiver(Node(n), Channel(c), [&](const Sent& sent) {
          const VertexId from = collective.vertices[n];
          for (const LinkId link : paths_.between(from, collective.vertices[sent.to.index()]).links)
            if (counts_(link))
              for (const ThreadId sender : senders)
                asks(sender, link);
        });
    }
  }

  void asks(ThreadId thread, LinkId link) {
    std::optional<ThreadId>& first = first_[link.index()];
    if (!first)
      first = thread;
    const uint32_t one = least(static_cast<uint32_t>(first->index()));
    const uint32_t other = least(static_cast<uint32_t>(thread.index()));
    set_[std::max(one, other)] = std::min(one, other);
  }

  /// The least of the thread's set.
  uint32_t least(uint32_t thread) {
    while (set_[thread] != thread)
      thread = set_[thread] = set_[set_[thread]];
    return thread;
  }

  const Lowered& lowered_;
  const ProgramLists lists_;
  Paths& paths_;
  FunctionRef<bool(LinkId)> counts_;
  std::vector<uint32_t> set_;                   // per thread: one of its set that is not greater
  std::vector<std::optional<ThreadId>> first_;  // per link: the first thread that asks for it
  /// Those already looked at; layer by layer, most programs do the same again.
  std::set<std::tuple<const Schedule*, const VertexId*, std::vector<ThreadId>>> seen_;
};

}  // namespace

std::vector<uint32_t> threads_by_shared_links(const Program& program, const Lowered& lowered,
                                              Paths& paths, FunctionRef<bool(LinkId)> counts) {
  return Sharing(program, lowered, paths, counts).run();
}

}  // namespace orrery
