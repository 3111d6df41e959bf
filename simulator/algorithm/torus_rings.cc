// Rings over all links of a torus. At first the links of an axis are one factor: each device has
// two of them, so they form rings, one for each line. An exchange takes a square of two devices
// along each of two axes. The links that are opposite each other in it belong to one factor, and
// the other two to another one. The factors exchange them. If opposite links are of two rings of
// their factor, these become one. So exchanges join the rings of a factor until one is left, which
// has all devices. Aubert and Schneider ("Décomposition de la somme cartésienne d'un cycle et de
// l'union de deux cycles hamiltoniens en cycles hamiltoniens", 1982) show that tori have such
// rings. This search does not find them for all sizes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "models/base/shared_map.h"
#include "simulator/algorithm/hierarchical.h"

namespace orrery {
namespace {

class FactorRings {
 public:
  explicit FactorRings(const SharedList<uint32_t>& sizes)
      : axes_(static_cast<uint32_t>(sizes.size())), sizes_(sizes.begin(), sizes.end()) {
    strides_.resize(axes_);
    for (uint32_t axis = axes_; axis > 0; --axis) {
      strides_[axis - 1] = ranks_;
      ranks_ *= sizes_[axis - 1];
    }
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      for (uint32_t axis = 0; axis < axes_; ++axis)
        factors_.push_back(axis);
    next_.resize(axes_, std::vector<std::array<uint32_t, 2>>(ranks_));
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      for (uint32_t axis = 0; axis < axes_; ++axis) {
        next_[axis][rank][0] = further(rank, axis);
        next_[axis][further(rank, axis)][1] = rank;
      }
    for (uint32_t factor = 0; factor < axes_; ++factor)
      rings_.push_back(rings_of(factor));
  }

  /// Exchanges links until each factor is one ring, and returns whether that was found. An exchange
  /// that leaves as many rings is taken only when no other was found since one of each square.
  bool join() {
    const uint64_t all = uint64_t{ranks_} * axes_ * axes_;
    uint64_t tried = 0;  // since the last exchange that joined rings
    for (uint64_t at = 0; at < kMostTurns * all; ++at) {
      if (std::ranges::all_of(rings_, [](const Rings& rings) { return rings.count == 1; }))
        return true;
      const bool stuck = ++tried > all;
      // The next exchanges are spread over the torus then, or they would undo each other.
      const uint64_t square = (stuck ? at * kSpread : at) % all;
      const auto rank = static_cast<uint32_t>(square / (axes_ * axes_));
      const auto first = static_cast<uint32_t>(square / axes_ % axes_);
      const auto second = static_cast<uint32_t>(square % axes_);
      const int joined = first == second ? -1 : exchange(rank, first, second, stuck);
      if (joined > 0)
        tried = 0;
      else if (joined == 0)
        tried = all - std::min(all, kAfterOne);
    }
    return false;
  }

  /// Returns the ranks of a factor's ring, from rank 0 on.
  std::vector<uint32_t> ring(uint32_t factor) const {
    std::vector<uint32_t> ranks;
    for_ring(factor, 0, [&](uint32_t rank) { ranks.push_back(rank); });
    return ranks;
  }

 private:
  static constexpr uint64_t kMostTurns = 400;
  static constexpr uint64_t kSpread = 1'000'003;
  static constexpr uint64_t kAfterOne = 97;

  struct Rings {
    std::vector<uint32_t> of;  // per rank, the number of its ring
    uint32_t count = 0;
  };

  uint32_t further(uint32_t rank, uint32_t axis) const {
    const uint32_t at = rank / strides_[axis] % sizes_[axis];
    return at + 1 == sizes_[axis] ? rank - at * strides_[axis] : rank + strides_[axis];
  }
  /// The factor of the link from the rank along the axis.
  uint32_t& factor(uint32_t rank, uint32_t axis) { return factors_[rank * axes_ + axis]; }

  template <class Visit>
  void for_ring(uint32_t factor, uint32_t from, Visit&& visit) const {
    uint32_t before = from;
    uint32_t rank = from;
    do {
      visit(rank);
      const std::array<uint32_t, 2>& both = next_[factor][rank];
      const uint32_t to = rank == from || both[0] != before ? both[0] : both[1];
      before = std::exchange(rank, to);
    } while (rank != from);
  }

  Rings rings_of(uint32_t factor) const {
    Rings rings;
    constexpr uint32_t kNone = ~uint32_t{0};
    rings.of.assign(ranks_, kNone);
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      if (rings.of[rank] == kNone) {
        for_ring(factor, rank, [&](uint32_t each) { rings.of[each] = rings.count; });
        ++rings.count;
      }
    return rings;
  }

  void replace(uint32_t factor, uint32_t rank, uint32_t old, uint32_t now) {
    std::array<uint32_t, 2>& both = next_[factor][rank];
    both[both[0] == old ? 0 : 1] = now;
  }

  /// Gives the links a-b and d-c of a square a, b, c, d to the factor `to`, and its links a-d and
  /// b-c to the factor `from`.
  void swap(uint32_t from, uint32_t to, const std::array<uint32_t, 4>& square) {
    const auto [a, b, c, d] = square;
    replace(from, a, b, d);
    replace(from, b, a, c);
    replace(from, c, d, b);
    replace(from, d, c, a);
    replace(to, a, d, b);
    replace(to, d, a, c);
    replace(to, b, c, a);
    replace(to, c, b, d);
  }

  /// Returns how many rings fewer there are after the exchange, or -1 if it is not made: unless
  /// `also_even`, it must leave fewer rings.
  int exchange(uint32_t rank, uint32_t first, uint32_t second, bool also_even) {
    const uint32_t b = further(rank, first);
    const uint32_t d = further(rank, second);
    const uint32_t from = factor(rank, first);
    const uint32_t to = factor(rank, second);
    if (from == to || factor(d, first) != from || factor(b, second) != to ||
        (rings_[from].of[rank] == rings_[from].of[d] && rings_[to].of[rank] == rings_[to].of[b]))
      return -1;
    const std::array<uint32_t, 4> square = {rank, b, further(b, second), d};
    swap(from, to, square);
    Rings of_from = rings_of(from);
    Rings of_to = rings_of(to);
    const int fewer = static_cast<int>(rings_[from].count + rings_[to].count) -
                      static_cast<int>(of_from.count + of_to.count);
    if (fewer < 0 || (fewer == 0 && !also_even)) {
      swap(to, from, square);
      return -1;
    }
    rings_[from] = std::move(of_from);
    rings_[to] = std::move(of_to);
    factor(rank, first) = factor(d, first) = to;
    factor(rank, second) = factor(b, second) = from;
    return fewer;
  }

  uint32_t axes_;
  uint32_t ranks_ = 1;
  std::vector<uint32_t> sizes_;
  std::vector<uint32_t> strides_;
  std::vector<uint32_t> factors_;  // of each link, by its lower rank and its axis
  std::vector<std::vector<std::array<uint32_t, 2>>> next_;  // per factor and rank: its neighbours
  std::vector<Rings> rings_;                                // per factor
};

}  // namespace

namespace {

SharedList<SharedList<uint32_t>> search_rings(const SharedList<uint32_t>& sizes) {
  ORRERY_CHECK(std::ranges::all_of(sizes, [](uint32_t size) { return size > 2; }),
               "no two links join the same two ranks");
  FactorRings factors(sizes);
  if (!factors.join())
    return {};
  std::vector<SharedList<uint32_t>> orders;
  for (uint32_t factor = 0; factor < sizes.size(); ++factor) {
    std::vector<uint32_t> ring = factors.ring(factor);
    orders.emplace_back(ring);
    std::ranges::reverse(ring);
    orders.emplace_back(std::move(ring));
  }
  return orders;
}

}  // namespace

SharedList<SharedList<uint32_t>> torus_rings(const SharedList<uint32_t>& sizes) {
  static SharedMap<std::vector<uint32_t>, SharedList<SharedList<uint32_t>>> known(64);
  return known.get({sizes.begin(), sizes.end()}, [&] { return search_rings(sizes); });
}

}  // namespace orrery
