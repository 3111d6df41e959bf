#include <algorithm>
#include <utility>

#include <doctest/doctest.h>

#include "models/array/tensor.h"

namespace orrery::test {

namespace {

// The sizes give both kinds of blocks: small ones, and those on pages of their own. The latter are
// a whole number of pages or not.
constexpr size_t kSizes[] = {1, 4096, size_t{4} << 20, (size_t{4} << 20) + 1,
                             (size_t{6} << 20) - 1};

bool all(const Storage& storage, int value) {
  return std::all_of(storage.data(), storage.data() + storage.size(),
                     [&](std::byte b) { return b == std::byte(value); });
}

TEST_CASE("storage: begins as zeros, also where memory was used before") {
  for (const size_t size : kSizes) {
    for (int again = 0; again < 2; ++again) {
      Storage storage(size);
      CHECK(storage.size() == size);
      CHECK(all(storage, 0));
      std::fill_n(storage.data(), size, std::byte{7});
    }
  }
}

TEST_CASE("storage: a copy is its own") {
  for (const size_t size : kSizes) {
    Storage storage(size);
    std::fill_n(storage.data(), size, std::byte{7});
    Storage copy = storage;
    CHECK(all(copy, 7));
    std::fill_n(storage.data(), size, std::byte{8});
    CHECK(all(copy, 7));
    copy = storage;
    CHECK(all(copy, 8));
  }
}

TEST_CASE("storage: moving hands the memory over") {
  for (const size_t size : kSizes) {
    Storage storage(size);
    const std::byte* const data = storage.data();
    Storage moved = std::move(storage);
    CHECK(moved.data() == data);
    CHECK(storage.size() == 0);  // NOLINT(bugprone-use-after-move): that it is empty is promised
    storage = std::move(moved);
    CHECK(storage.data() == data);
    CHECK(storage.size() == size);
  }
}

TEST_CASE("storage: none has no memory") {
  const Storage none(0);
  CHECK(none.data() == nullptr);
  const Storage copy = none;
  CHECK(copy.size() == 0);
}

}  // namespace

}  // namespace orrery::test
