// Tests which MPMD arrays can be made of the arrays that a process holds, and what may be asked of
// them.

#include <doctest/doctest.h>

#include "models/mesh/mpmd.h"

namespace orrery {
namespace {

using On = LocalArray::On;

/// Returns the mesh s = 3, m = 2, whose group g is devices 2 g and 2 g + 1.
MpmdMesh three_groups() {
  return MpmdMesh(DeviceMesh({{"s", 3}, {"m", 2}}), "s");
}

/// Returns an array f32[4] of the spec P('m') on a group.
LocalArray on_group(int64_t group) {
  return {.group = group, .spec = {.dims = {{"m"}}}, .shape = {4}, .dtype = Dtype::F32};
}

MpmdArray array_of(const std::set<int64_t>& groups, const std::vector<LocalArray>& local,
                   const MpmdArray::Type& given = {}) {
  return MpmdArray(three_groups(), groups, {.dims = {{"m"}}}, local, given);
}

/// Returns the message with which an array is refused.
std::string array_refused(const std::set<int64_t>& groups, const std::vector<LocalArray>& local,
                          const MpmdArray::Type& given = {}) {
  try {
    (void)array_of(groups, local, given);
  } catch (const ShardingError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("MPMD array: its type is that of its replicas, and its sharding is over its groups") {
  const MpmdArray array = array_of({2, 0}, {on_group(2), on_group(0)});
  CHECK(array.groups() == std::set<int64_t>{0, 2});
  CHECK(array.held() == std::set<int64_t>{0, 2});
  CHECK(array.shape() == Shape{4});
  CHECK(array.dtype() == Dtype::F32);
  CHECK(array.sharding().parts().mesh ==
        DeviceMesh({{"s", 2}, {"m", 2}}, {}, {.order = {{0, 1, 4, 5}}}));
  CHECK(array.first_replica() == 0);
}

TEST_CASE("MPMD array: the first replica is that of the smallest group, held or not") {
  CHECK(array_of({0, 2}, {on_group(2)}).first_replica() == std::nullopt);
  CHECK(array_of({1, 2}, {on_group(1)}).first_replica() == 1);
}

TEST_CASE("MPMD array: without a replica its type is given") {
  const MpmdArray array = array_of({1}, {}, {.shape = Shape{8}, .dtype = Dtype::BF16});
  CHECK(array.held().empty());
  CHECK(array.shape() == Shape{8});
  CHECK(array.dtype() == Dtype::BF16);
  CHECK(array_refused({1}, {}, {.dtype = Dtype::BF16}) ==
        "expected a shape to be given where no array is held, got none");
  CHECK(array_refused({1}, {}, {.shape = Shape{8}}) ==
        "expected a dtype to be given where no array is held, got none");
}

TEST_CASE("MPMD array: each array lies on a group of its own, of those named") {
  LocalArray whole = on_group(0);
  whole.on = On::WholeMesh;
  LocalArray single = on_group(0);
  single.on = On::OneDevice;
  CHECK(array_refused({0}, {whole}) ==
        "array 0: expected an array on a group, got one on the whole mesh");
  CHECK(array_refused({0}, {single}) ==
        "array 0: expected an array on a group, got one on a single device");
  CHECK(array_refused({0}, {on_group(3)}) == "array 0: expected a group from 0 to 2, got 3");
  CHECK(array_refused({0, 2}, {on_group(0), on_group(1)}) ==
        "array 1: expected an array on one of groups 0, 2, got one on group 1");
  CHECK(array_refused({0, 2}, {on_group(2), on_group(0), on_group(2)}) ==
        "array 2: expected one array on each group, got another on group 2");
}

TEST_CASE("MPMD array: the whole mesh is a group where it is the only one") {
  LocalArray whole = {.on = On::WholeMesh, .shape = {2}, .dtype = Dtype::S32};
  const MpmdMesh mesh(DeviceMesh({{"m", 2}, {"s", 1}}), "s");
  CHECK(MpmdArray(mesh, {0}, {}, {whole}, {}).first_replica() == 0);
}

TEST_CASE("MPMD array: all replicas have one shape, dtype and spec") {
  LocalArray longer = on_group(2);
  longer.shape = {8};
  LocalArray whole_number = on_group(2);
  whole_number.dtype = Dtype::S32;
  LocalArray uncut = on_group(2);
  uncut.spec = {.dims = {{"s"}}};
  LocalArray same = on_group(2);
  same.spec = {.dims = {{"s", "m"}}};
  CHECK(array_refused({0, 2}, {on_group(0), longer}) == "array 1: expected the shape [4], got [8]");
  CHECK(array_refused({0, 2}, {on_group(0), whole_number}) ==
        "array 1: expected the dtype f32, got s32");
  CHECK(array_refused({0, 2}, {on_group(0)}, {.shape = Shape{4, 1}}) ==
        "array 0: expected the shape [4,1], got [4]");
  CHECK(array_refused({0, 2}, {on_group(0)}, {.dtype = Dtype::S8}) ==
        "array 0: expected the dtype s8, got f32");
  CHECK(array_refused({0, 2}, {on_group(0), uncut}) ==
        R"(array 1: expected the spec P('m',) without axis "s", got P(None,))");
  CHECK(array_refused({0, 2}, {on_group(0), same}) == "none");
}

TEST_CASE("MPMD array: a replica is one that its group can hold") {
  LocalArray odd = on_group(0);
  odd.shape = {3};
  CHECK(
      array_refused({0}, {odd}) ==
      R"(array 0: P('m',): expected dimension 0 of extent 3 to be divisible by 2, the size of "m")");
  CHECK(array_refused({}, {}) == "expected at least one group, got none");
}

constexpr MpmdUse kAllUses[] = {MpmdUse::Delete, MpmdUse::DeleteFirst, MpmdUse::IsDeleted,
                                MpmdUse::Get, MpmdUse::Number};

/// Returns the errors of all uses, without those that are allowed.
std::vector<std::string> refused_uses(const MpmdArray& array) {
  std::vector<std::string> errors;
  for (const MpmdUse use : kAllUses)
    errors.push_back(array.error_of(use).value_or(""));
  return errors;
}

TEST_CASE("MPMD array: what may be asked depends on the replicas that are held and deleted") {
  using Errors = std::vector<std::string>;
  const std::string none = "expected a replica in this process, got none";
  const MpmdArray nowhere = array_of({0}, {}, {.shape = Shape{4}, .dtype = Dtype::F32});
  CHECK(refused_uses(nowhere) == Errors{none, none, none, "", none});

  MpmdArray one = array_of({0}, {on_group(0)});
  CHECK(refused_uses(one) == Errors{"", "", "", "", ""});
  CHECK_FALSE(one.is_deleted());
  one.delete_first();
  CHECK(one.is_deleted());
  const std::string deleted = "expected an array that is there, got one that is deleted";
  CHECK(refused_uses(one) == Errors{deleted, "", "", deleted, deleted});

  MpmdArray two = array_of({0, 2}, {on_group(0), on_group(2)});
  const std::string several = "expected one replica to be read as a number, got 2";
  CHECK(refused_uses(two) == Errors{"", "", "", "", several});
  two.delete_first();
  const std::string some = "expected all replicas or none to be deleted, got 1 of 2";
  CHECK(refused_uses(two) == Errors{some, "", some, some, some});
  two.delete_first();
  CHECK(refused_uses(two)[0] == some);
  two.delete_all();
  CHECK(refused_uses(two) == Errors{deleted, "", "", deleted, deleted});
}

}  // namespace
}  // namespace orrery
