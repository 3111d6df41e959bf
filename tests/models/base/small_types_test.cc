#include <memory>
#include <type_traits>

#include <doctest/doctest.h>

#include "models/base/callable.h"
#include "models/base/chunked_array.h"
#include "models/base/id.h"
#include "models/base/shared_list.h"

namespace orrery {

static_assert(!std::is_convertible_v<DeviceId, LogicalId>);
static_assert(!std::is_convertible_v<size_t, Rank>);
static_assert(!std::is_constructible_v<Rank, LogicalId>);

TEST_CASE("id: orders by its index") {
  CHECK(DeviceId(2) < DeviceId(3));
  CHECK(DeviceId(2) == DeviceId(2));
  CHECK(DeviceId(2).index() == 2);
  CHECK(DeviceId() == DeviceId(0));
}

TEST_CASE("chunked_array: what is in it stays where it is while it grows") {
  ChunkedArray<int> array;
  array.push_back(0);
  const int* const first = &array[0];
  for (int i = 1; i < 5'000; ++i)
    array.push_back(i);
  CHECK(&array[0] == first);
  CHECK(array.size() == 5'000);
  array[1'024] = -1;
  for (size_t i = 0; i < array.size(); ++i)
    REQUIRE(array[i] == (i == 1'024 ? -1 : static_cast<int>(i)));
}

TEST_CASE("function_ref: calls what it was given, by reference") {
  int calls = 0;
  auto counting = [&calls, step = 0](int by) mutable { return calls += by * ++step; };
  const FunctionRef<int(int)> ref = counting;
  CHECK(ref(10) == 10);
  CHECK(ref(10) == 30);  // the state of `counting` itself moved on: 10 + 2 * 10
  CHECK(counting(10) == 60);
  const FunctionRef<int(int)> copy = ref;
  CHECK(copy(10) == 100);
}

TEST_CASE("function_ref: passes arguments on without copies") {
  const auto take = [](std::unique_ptr<int> pointer) { return *pointer; };
  const FunctionRef<int(std::unique_ptr<int>)> ref = take;
  CHECK(ref(std::make_unique<int>(5)) == 5);
}

TEST_CASE("shared_list: copies are the same memory, equal lists are equal") {
  const SharedList<int> list = {3, 1};
  const SharedList<int> copy = list;
  CHECK(copy.begin() == list.begin());
  CHECK(copy[1] == 1);
  const SharedList<int> made_again = {3, 1};
  CHECK(made_again.begin() != list.begin());
  CHECK(made_again == list);
  CHECK_FALSE(SharedList<int>{3} == list);
  CHECK(SharedList<int>{3} < list);
  CHECK(list < SharedList<int>{4});
  CHECK(SharedList<int>() == SharedList<int>(std::vector<int>()));
  CHECK(SharedList<int>().begin() == SharedList<int>().end());
}

}  // namespace orrery
