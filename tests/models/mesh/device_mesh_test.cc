#include "models/mesh/device_mesh.h"

#include <string>

#include <doctest/doctest.h>

#include "models/mesh/partition_spec.h"

namespace orrery {
namespace {

using enum AxisType;

const std::vector<Axis> kTwoAxes = {{"x", 2}, {"y", 3}};

/// Returns the message with which the mesh is refused, or "".
std::string mesh_error(const std::vector<Axis>& axes,
                       const std::optional<std::vector<AxisType>>& types = {},
                       const MeshDevices& devices = {}) {
  try {
    (void)DeviceMesh(axes, types, devices);
  } catch (const ShardingError& error) {
    CHECK(name(error.stage()) == "mesh");
    return error.what();
  }
  return "";
}

TEST_CASE("device mesh: str and repr are JAX's") {
  const DeviceMesh two({{"x", 2}, {"y", 3}}, {{Auto, Explicit}});
  CHECK(two.text() == "Mesh('x': 2, 'y': 3, axis_types=(Auto, Explicit))");
  CHECK(two.repr() ==
        "Mesh(axis_sizes=(2, 3), axis_names=('x', 'y'), axis_types=(Auto, Explicit))");
  const DeviceMesh one({{"x", 2}}, {{Manual}});
  CHECK(one.text() == "Mesh('x': 2, axis_types=(Manual,))");
  CHECK(one.repr() == "Mesh(axis_sizes=(2,), axis_names=('x',), axis_types=(Manual,))");
}

TEST_CASE("device mesh: str takes names as they are, and repr writes them as Python strings") {
  const std::vector<Axis> axes = {{"x'", 2}, {"a\\b", 3}};
  CHECK(DeviceMesh(axes).text() == "Mesh('x'': 2, 'a\\b': 3, axis_types=(Auto, Auto))");
  CHECK(DeviceMesh(axes).repr() ==
        "Mesh(axis_sizes=(2, 3), axis_names=(\"x'\", 'a\\\\b'), axis_types=(Auto, Auto))");
  CHECK(DeviceMesh(axes, {}, {.abstract = true}).text() ==
        "AbstractMesh('x'': 2, 'a\\b': 3, axis_types=(Auto, Auto))");
}

TEST_CASE("device mesh: without axes it is empty") {
  CHECK(DeviceMesh({}).text() == "Mesh()");
  CHECK(DeviceMesh({}).repr() == "Mesh(axis_sizes=(), axis_names=())");
  CHECK(DeviceMesh({}, {}, {.abstract = true}).text() == "AbstractMesh((), axis_types=())");
}

TEST_CASE("device mesh: an abstract one has one text") {
  const DeviceMesh mesh(kTwoAxes, {}, {.abstract = true});
  CHECK(mesh.text() == "AbstractMesh('x': 2, 'y': 3, axis_types=(Auto, Auto))");
  CHECK(mesh.repr() == mesh.text());
}

TEST_CASE("device mesh: devices are 0, 1, ... or those of an order") {
  CHECK(DeviceMesh({{"x", 3}}).device(LogicalId(2)) == 2);
  const DeviceMesh shuffled({{"x", 3}}, {}, {.order = {{7, -1, 5}}});
  CHECK(shuffled.device(LogicalId(0)) == 7);
  CHECK(shuffled.device(LogicalId(2)) == 5);
}

TEST_CASE("device mesh: equal by axes, types and devices, however these are given") {
  const DeviceMesh mesh({{"x", 2}});
  CHECK(mesh == DeviceMesh({{"x", 2}}, {{Auto}}, {.order = {{0, 1}}}));
  CHECK(mesh != DeviceMesh({{"x", 2}}, {{Explicit}}));
  CHECK(mesh != DeviceMesh({{"y", 2}}));
  CHECK(mesh != DeviceMesh({{"x", 2}}, {}, {.order = {{1, 0}}}));
  CHECK(mesh != DeviceMesh({{"x", 2}}, {}, {.abstract = true}));
}

TEST_CASE("device mesh: devices are the same on other axes, and on no abstract mesh") {
  CHECK(same_devices(DeviceMesh({{"x", 4}}), DeviceMesh({{"x", 2}, {"y", 2}})));
  CHECK_FALSE(same_devices(DeviceMesh({{"x", 4}}), DeviceMesh({{"x", 2}})));
  CHECK_FALSE(
      same_devices(DeviceMesh({{"x", 2}}), DeviceMesh({{"x", 2}}, {}, {.order = {{1, 0}}})));
  CHECK_FALSE(same_devices(DeviceMesh({{"x", 2}}), DeviceMesh({{"x", 2}}, {}, {.abstract = true})));
  // Devices of two abstract meshes are not compared.
  CHECK(same_devices(DeviceMesh({{"x", 4}}, {}, {.abstract = true}),
                     DeviceMesh({{"x", 2}}, {}, {.abstract = true})));
}

TEST_CASE("device mesh: axes have names of their own and a device at least") {
  CHECK(mesh_error({{"x", 2}, {"x", 1}}) == "expected axes of different names, got \"x\" twice");
  CHECK(mesh_error({{"x", 0}}) == "expected an axis of at least 1 device, got \"x\" of 0");
  CHECK(mesh_error({{"x", int64_t{1} << 16}, {"y", int64_t{1} << 16}}) ==
        "expected a mesh of less than 2^32 devices, got more");
  CHECK(mesh_error({{"x", int64_t{1} << 40}, {"y", int64_t{1} << 40}}) ==
        "expected a mesh of less than 2^32 devices, got more");
}

TEST_CASE("device mesh: no axis has a name that means something else in a spec") {
  CHECK(
      mesh_error({{"x", 2}, {"", 1}}) ==
      "expected an axis name other than \"\" and \"UNCONSTRAINED\", which mean something else in a "
      "spec, got \"\"");
  CHECK(
      mesh_error({{"UNCONSTRAINED", 2}}) ==
      "expected an axis name other than \"\" and \"UNCONSTRAINED\", which mean something else in a "
      "spec, got \"UNCONSTRAINED\"");
}

TEST_CASE("device mesh: as many types as axes") {
  CHECK(mesh_error(kTwoAxes, {{Auto}}) == "expected a type per axis, of which there are 2, got 1");
  CHECK(mesh_error(kTwoAxes, {{Auto, Auto, Auto}}) ==
        "expected a type per axis, of which there are 2, got 3");
  CHECK(mesh_error(kTwoAxes, {std::vector<AxisType>()}) ==
        "expected a type per axis, of which there are 2, got 0");
}

TEST_CASE("device mesh: an order has each device once, as many as places") {
  CHECK(mesh_error({{"x", 2}}, {}, {.order = {{3}}}) ==
        "expected a device for each of the 2 places in the mesh, got 1");
  CHECK(mesh_error({{"x", 3}}, {}, {.order = {{4, 3, 4}}}) ==
        "expected each device once, got device 4 twice");
  CHECK(mesh_error({{"x", 2}}, {}, {.abstract = true, .order = {{0, 1}}}) ==
        "expected no devices of an abstract mesh, got an order of them");
}

}  // namespace
}  // namespace orrery
