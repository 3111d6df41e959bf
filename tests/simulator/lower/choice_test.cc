#include "simulator/lower/choice.h"

#include <doctest/doctest.h>

namespace orrery {
namespace {

/// One group of `nodes`, every rank 1 us and 50 GB/s from every other.
SiteFigures site(OpKind kind, uint32_t nodes, int64_t elements) {
  SiteFigures site;
  site.kind = kind;
  site.elements = elements;
  site.itemsize = Bytes(4);
  site.groups = {{nodes, {}}};
  for (uint64_t distance = 1; distance < nodes; distance *= 2)
    site.groups[0].hops.push_back({Duration(1'000'000), BytesPerSecond(50'000'000'000)});
  return site;
}

std::string text(const SiteFigures& site) {
  const auto picked = pick_algorithm(site);
  if (const auto* fault = std::get_if<TypeFault>(&picked))
    return fault->parameter + ": " + fault->message;
  const Pick& pick = std::get<Pick>(picked);
  return std::string(pick.algorithm->name) + ": " + pick.because;
}

TEST_CASE("choice: a large sum goes round the ring") {
  // 4 MiB over 8 ranks. Ring: 14 (1 us + 524,288 B / 50 GB/s = 10.48576 us) = 160.80064 us.
  // Recursive doubling: 3 (1 us + 4,194,304 B / 50 GB/s = 83.88608 us) = 254.65824 us.
  CHECK(text(site(OpKind::Psum, 8, 1 << 20)) ==
        "ring: ring 160.80064 us < recursive_doubling 254.65824 us (model)");
}

TEST_CASE("choice: a small maximum is doubled") {
  // 32 B over 8 ranks. Ring: 14 (1 us + 4 B / 50 GB/s = 80 ps); doubling: 3 (1 us + 640 ps).
  CHECK(text(site(OpKind::Pmax, 8, 8)) ==
        "recursive_doubling: recursive_doubling 3.00192 us < ring 14.00112 us (model)");
}

TEST_CASE("choice: ranks beyond a power of two cost two more hops") {
  // 12 B over 3 ranks: ring 4 (1 us + 80 ps), doubling (1 + 2) (1 us + 240 ps).
  CHECK(text(site(OpKind::Psum, 3, 3)) ==
        "recursive_doubling: recursive_doubling 3.00072 us < ring 4.00032 us (model)");
}

TEST_CASE("choice: equal estimates go to the ring") {
  // Nothing to send, and no latency: both 0.
  SiteFigures even = site(OpKind::Psum, 8, 0);
  for (Hop& hop : even.groups[0].hops)
    hop.latency = Duration();
  CHECK(text(even) == "ring: ring 0 ps = recursive_doubling 0 ps (model)");
}

TEST_CASE("choice: the slowest group decides, and groups of one do not count") {
  // 400,000 B. Of 8 ranks: ring 14 (1 us + 50,000 B / 50 GB/s = 1 us) = 28 us, doubling
  // 3 (1 us + 8 us) = 27 us. Of 2 ranks: ring 2 (1 + 4) = 10 us, doubling 9 us.
  SiteFigures groups = site(OpKind::Psum, 8, 100'000);
  groups.groups.push_back(site(OpKind::Psum, 2, 0).groups[0]);
  groups.groups.push_back({1, {}});
  CHECK(text(groups) == "recursive_doubling: recursive_doubling 27 us < ring 28 us (model)");
}

TEST_CASE("choice: the scenario's word stands") {
  SiteFigures asked = site(OpKind::Psum, 8, 8);
  asked.asked_for = "ring";
  CHECK(text(asked) == "ring: asked for by the scenario");
  asked.asked_for = "rings";
  CHECK(text(asked) ==
        "algorithm: expected one of ring, recursive_doubling, got \"rings\"; did you mean "
        "\"ring\"?");
  asked.kind = OpKind::AllGather;
  asked.asked_for = "recursive_doubling";
  CHECK(text(asked) == "algorithm: expected one of ring, got \"recursive_doubling\"");
}

TEST_CASE("choice: where there is one algorithm, that is the reason") {
  CHECK(text(site(OpKind::Ppermute, 8, 8)) == "direct: the only algorithm for ppermute");
  CHECK(text(site(OpKind::AllGather, 8, 8)) == "ring: the only algorithm for all_gather");
  CHECK(text(site(OpKind::PsumScatter, 8, 8)) == "ring: the only algorithm for psum_scatter");
}

TEST_CASE("choice: an exchange is direct up to 64 ranks") {
  CHECK(text(site(OpKind::AllToAll, 64, 64)) == "direct: for groups of up to 64 ranks");
  CHECK(text(site(OpKind::AllToAll, 65, 65)) == "pairwise: for groups of more than 64 ranks");
  CHECK(text(site(OpKind::AllToAll, 1025, 1025)) ==
        "pairwise: the only algorithm that fits for all_to_all");
}

TEST_CASE("choice: what does not fit says so") {
  SiteFigures asked = site(OpKind::AllToAll, 1025, 1025);
  asked.asked_for = "direct";
  CHECK(text(asked) == "algorithm: expected groups of at most 1024 ranks, got 1025 (direct)");
  // 1024 ranks, each with 1024 connections of 5 channels: 5,242,880.
  SiteFigures wide = site(OpKind::AllToAll, 1024, 1024);
  wide.channels = 5;
  wide.asked_for = "direct";
  CHECK(text(wide) ==
        "algorithm: expected at most 4194304 channels over all ranks of a group, got 5242880 "
        "(direct)");
  SiteFigures ring = site(OpKind::AllGather, 8192, 8);
  ring.channels = 1024;
  CHECK(text(ring) ==
        "algorithm: expected at most 4194304 channels over all ranks of a group, got 8388608 "
        "(ring)");
}

TEST_CASE("choice: a group of one copies") {
  SiteFigures one = site(OpKind::Psum, 1, 8);
  CHECK(text(one) == "ring: a group of one only copies");
}

TEST_CASE("algorithms: a kind has no two of one name, and every kind has one") {
  for (const OpRules& of : all_rules()) {
    if (of.family != Family::Collective)
      continue;
    const auto algorithms = algorithms_for(of.kind);
    CHECK_FALSE(algorithms.empty());
    for (size_t i = 0; i < algorithms.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        CHECK(algorithms[i]->name != algorithms[j]->name);
  }
}

}  // namespace
}  // namespace orrery
