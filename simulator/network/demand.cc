#include "simulator/network/demand.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace orrery {
namespace {

CommunicationStream stream_of(const Lowered& lowered, const Member& part) {
  return stream_of(lowered.collective(part.collective), part.node);
}

/// Returns the members, in the order of devices, then lists, then streams, then collectives.
std::vector<Member> parts(const Lowered& lowered) {
  // This is a counting sort by devices; the parts of one device are mostly in order already.
  std::vector<size_t> first;  // per device: where its parts begin; and the end
  for (const Collective& collective : lowered.collectives)
    for (size_t n = 0; n < collective.members.size(); ++n) {
      const VertexId device = collective.vertices[n];
      if (first.size() < device.index() + size_t{2})
        first.resize(device.index() + size_t{2});
      ++first[device.index() + 1];
    }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Member> result(first.empty() ? 0 : first.back());
  std::vector<size_t> next = first;
  for (size_t c = 0; c < lowered.collectives.size(); ++c) {
    const Collective& collective = lowered.collectives[c];
    for (size_t n = 0; n < collective.members.size(); ++n)
      result[next[collective.vertices[n].index()]++] = {CollectiveId(c), Node(n)};
  }
  const auto before = [&](const Member& a, const Member& b) {
    return stream_of(lowered, a) < stream_of(lowered, b);
  };
  for (size_t d = 0; d + 1 < first.size(); ++d) {
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(first[d]);
    const auto end = result.begin() + static_cast<std::ptrdiff_t>(first[d + 1]);
    if (!std::is_sorted(begin, end, before))
      std::stable_sort(begin, end, before);
  }
  return result;
}

/// Chains handles one chain after another, so a link needs to store only the highest peak so far.
class Chains {
 public:
  Chains(const Lowered& lowered, Paths& paths) : lowered_(lowered), paths_(paths) {
    demands_.links.resize(paths.fabric().count_links());
    demands_.messages.resize(lowered.collectives.size());
    asked_.resize(demands_.links.size());
  }

  Demands add_up() {
    const std::vector<Member> all = parts(lowered_);
    for (size_t first = 0; first < all.size();) {
      size_t end = first;
      uint32_t channels = 0;
      const CommunicationStream stream = stream_of(lowered_, all[first]);
      for (; end < all.size() && stream_of(lowered_, all[end]) == stream; ++end)
        channels = std::max(channels, extent(all[end]).channels);
      for (uint32_t c = 0; c < channels; ++c) {
        ++chain_;
        for (size_t p = first; p < end;) {
          const size_t same = alike(all, p, end);
          if (c < extent(all[p]).channels)
            add(std::span(all).subspan(p, same - p), Channel(c));
          p = same;
        }
      }
      first = end;
    }
    add_switches();
    return std::move(demands_);
  }

 private:
  /// The highest demand of a chain on a link.
  struct Asked {
    uint64_t chain = 0;  // the last chain that used it; they are numbered from 1
    BytesPerSecond peak;
  };

  const Collective& collective(const Member& part) const {
    return lowered_.collective(part.collective);
  }
  const Extent& extent(const Member& part) const { return collective(part).schedule->extent(); }

  /// Returns the end of the run of parts from `first` on, before `end`, that send the same as the
  /// first. Most programs send the same again in every layer.
  size_t alike(const std::vector<Member>& all, size_t first, size_t end) const {
    const Collective& one = collective(all[first]);
    size_t next = first + 1;
    for (; next < end; ++next) {
      if (Sending(collective(all[next])) != Sending(one) || all[next].node != all[first].node)
        break;
    }
    return next;
  }

  /// Adds the chains of switches, one per run. Collectives that send the same are looked at once.
  void add_switches() {
    std::vector<std::vector<Member>> alike;
    std::map<Sending, size_t> known;  // looked up only
    for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
      const Collective& one = lowered_.collectives[c];
      if (one.schedule->extent().switch_nodes == 0)
        continue;
      const auto [at, added] = known.try_emplace(Sending(one), alike.size());
      if (added)
        alike.emplace_back();
      alike[at->second].push_back({CollectiveId(c), {}});
    }
    for (std::vector<Member>& parts : alike) {
      const Extent& extent = this->extent(parts.front());
      for (uint32_t n = extent.ranks(); n < extent.nodes; ++n) {
        for (Member& part : parts)
          part.node = Node(n);
        for (uint32_t c = 0; c < extent.channels; ++c) {
          ++chain_;
          chains_ = times(parts);
          add(parts, Channel(c));
        }
      }
    }
  }

  uint64_t times(std::span<const Member> parts) const {
    uint64_t times = 0;
    for (const Member& part : parts)
      times += collective(part).times;
    return times;
  }

  /// Adds parts that send the same.
  void add(std::span<const Member> parts, Channel channel) {
    const Member& part = parts.front();
    const Collective& collective = this->collective(part);
    const Int128 item = Int128{itemsize(collective.work).count()} * times(parts);
    uint64_t messages = 0;
    collective.schedule->for_each_receiver(part.node, channel, [&](const Sent& sent) {
      messages += sent.messages;
      const Path& path = paths_.between(collective.vertices[part.node.index()],
                                        collective.vertices[sent.to.index()], channel.index());
      if (path.links.empty())
        return;
      const MessageFigures& figures = path.figures(collective.figures);
      const BytesPerSecond peak = path.peak(figures.channel_rate);
      const Int128 bytes = item * sent.elements;
      const Int128 wire = on_wire(bytes, figures.share);
      for (const LinkId link : path.links)
        ask(link, peak, bytes, wire);
    });
    for (const Member& same : parts)
      demands_.messages[same.collective.index()] += messages * this->collective(same).times;
  }

  void ask(LinkId link, BytesPerSecond peak, Int128 bytes, Int128 wire) {
    Demand& demand = demands_.links[link.index()];
    Asked& asked = asked_[link.index()];
    demand.bytes += bytes;
    demand.wire += wire;
    if (asked.chain != chain_) {
      asked = {chain_, BytesPerSecond()};
      demand.chains += chains_;
    }
    if (peak > asked.peak) {
      demand.peak += Int128{(peak - asked.peak).count()} * chains_;
      asked.peak = peak;
    }
  }

  const Lowered& lowered_;
  Paths& paths_;
  Demands demands_;
  std::vector<Asked> asked_;  // per link
  uint64_t chain_ = 0;
  uint64_t chains_ = 1;  // number of chains that send the same as the current one
};

}  // namespace

Demands demands(const Lowered& lowered, Paths& paths) {
  return Chains(lowered, paths).add_up();
}

Bytes Demands::bytes_over(LinkId link, const Fabric& fabric) const {
  const Int128 bytes = links[link.index()].bytes;
  if (bytes > std::numeric_limits<int64_t>::max())
    throw Overflow(
        fmt::format("the bytes over link {} leave the 64-bit range", fabric.link_text(link)));
  return Bytes(checked_narrow(bytes));
}

}  // namespace orrery
