#include <doctest/doctest.h>

#include "simulator/values/cuda/device_memory.h"

namespace orrery::cuda {

namespace {

std::vector<WorkId> nodes(Dependencies& after) {
  const std::span<const WorkId> all = after.nodes();
  return {all.begin(), all.end()};
}

TEST_CASE("pool: who gets used memory waits for its last use, and for nothing else") {
  ReusePool pool;
  Dependencies none;
  const Bytes a = pool.take(Bytes(256), none);
  const Bytes b = pool.take(Bytes(256), none);
  CHECK(nodes(none).empty());
  CHECK(b == Bytes(256));
  pool.give_back(a, Bytes(256), Frontier(WorkId(1)));
  pool.give_back(b, Bytes(256), Frontier(WorkId(2)));

  Dependencies first;
  CHECK(pool.take(Bytes(256), first) == a);
  CHECK(nodes(first) == std::vector{WorkId(1)});
}

TEST_CASE("pool: memory over several earlier uses waits for all, and what is left for its own") {
  ReusePool pool;
  Dependencies none;
  const Bytes a = pool.take(Bytes(512), none);
  const Bytes b = pool.take(Bytes(512), none);
  pool.give_back(a, Bytes(512), Frontier(WorkId(1)));
  pool.give_back(b, Bytes(512), Frontier(WorkId(2)));

  Dependencies both;  // 768 of the 1,024 bytes
  CHECK(pool.take(Bytes(768), both) == a);
  CHECK(nodes(both) == std::vector{WorkId(1), WorkId(2)});
  Dependencies rest;
  CHECK(pool.take(Bytes(256), rest) == Bytes(768));
  CHECK(nodes(rest) == std::vector{WorkId(2)});
  CHECK(pool.high_water() == Bytes(1024));
}

TEST_CASE("pool: nothing is waited for after a use that has nothing to wait for") {
  ReusePool pool;
  Dependencies none;
  const Bytes a = pool.take(Bytes(1), none);
  pool.give_back(a, Bytes(1), Frontier());
  CHECK(pool.take(Bytes(1), none) == a);
  CHECK(nodes(none).empty());
  CHECK(pool.high_water() == Bytes(256));
}

}  // namespace

}  // namespace orrery::cuda
