#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/build.h"

namespace orrery {
namespace {

using test::at_site;
using test::Building;
using test::devices;
using test::Names;
using test::op;

using Errors = test::Lines;

const Names kBoth = {"stage", "x"};
const Names kInner = {"x"};

/// A `Stages` has two threads on the two stages of {stage: 2, x: 2}: devices 0 and 1, and 2 and 3.
class Stages : public Building {
 public:
  Stages() : Building(Mesh({{"stage", 2}, {"x", 2}}), Checks::Shapes) {}
  Stages& front(std::initializer_list<OpRequest> ops) { return with("front", 0, ops); }
  Stages& back(std::initializer_list<OpRequest> ops) { return with("back", 2, ops); }

 private:
  Stages& with(const char* name, uint32_t first, std::initializer_list<OpRequest> ops) {
    thread(name, devices(first, first + 2));
    for (const OpRequest& request : ops)
      add(request);
    return *this;
  }
};

OpRequest meeting(std::string name, std::string_view what = "psum", Names axes = kBoth) {
  return at_site(op(std::move(name), what, {"a"}, {{"axis_name", std::move(axes)}}), "all");
}

TEST_CASE("site of its own: the groups of the op's thread, and no others") {
  Stages stages;
  stages.front({op("p", "psum", {"a"}, {{"axis_name", kInner}})}).back({});
  const Program program = stages.finish();
  CHECK(program.sites[0].name == "p");
  CHECK(program.sites[0].ops == std::vector<OpId>{OpId(0)});
  CHECK(program.sites[0].groups == std::vector<Group>{devices(0, 2)});
  CHECK(program.ops[0].site == SiteId(0));
}

TEST_CASE("site of its own: members of another thread are absent") {
  Stages stages;
  stages.front({op("p", "psum", {"a"}, {{"axis_name", Names{"stage"}}})}).back({});
  const Program program = stages.finish();
  using Ids = std::vector<LogicalId>;
  CHECK(program.sites[0].groups ==
        std::vector<Group>{Ids{LogicalId(0), LogicalId(2)}, Ids{LogicalId(1), LogicalId(3)}});
  CHECK(program.sites[0].absent == std::vector<GroupMember>{{0, 1}, {1, 1}});
}

TEST_CASE("shared site: ops of several threads, one each, in thread order") {
  Stages stages;
  stages.front({meeting("p")}).back({op("other", "add", {"a", "a"}), meeting("q")});
  const Program program = stages.finish();
  CHECK(program.sites.size() == 1);
  CHECK(program.sites[0].name == "all");
  CHECK(program.sites[0].ops == std::vector<OpId>{OpId(0), OpId(2)});
  CHECK(program.sites[0].groups == std::vector<Group>{devices(0, 4)});
  CHECK(program.ops[2].site == SiteId(0));
}

TEST_CASE("shared site: members of threads that do not issue it are absent") {
  Stages stages;
  stages.front({meeting("p")}).back({});
  const Program program = stages.finish();
  CHECK(program.sites[0].groups == std::vector<Group>{devices(0, 4)});
  CHECK(program.sites[0].absent == std::vector<GroupMember>{{0, 2}, {0, 3}});
}

TEST_CASE("shared site: a thread issues it once") {
  Stages stages;
  stages.front({meeting("p"), meeting("q")}).back({meeting("r")});
  CHECK(
      stages.errors() ==
      Errors{"/q/site: psum \"q\": expected each program to issue site \"all\" once, got it twice "
             "in program \"front\""});
}

TEST_CASE("shared site: a device of two threads takes part through one of them") {
  Stages stages;
  stages.front({meeting("p")}).back({meeting("q")});
  stages.thread("both", devices(1, 3)).add(meeting("r"));
  CHECK(stages.errors() ==
        Errors{"/p/site: expected each device to issue site \"all\" in one of its programs, got "
               "device 1 in \"front\" and \"both\""});
}

TEST_CASE("shared site: the ops are of one kind") {
  Stages stages;
  stages.front({meeting("p")}).back({meeting("q", "pmax_start")});
  CHECK(stages.errors() ==
        Errors{"/q/op: pmax_start \"q\": expected psum at site \"all\", as \"p\" is, got pmax"});
}

TEST_CASE("shared site: one thread may start what another one waits for at once") {
  Stages stages;
  stages.front({meeting("p")}).back({meeting("q", "psum_start"), op("r", "done", {"q"})});
  const Program program = stages.finish();
  CHECK(program.sites.size() == 1);
  CHECK(program.sites[0].ops == std::vector<OpId>{OpId(0), OpId(1)});
}

TEST_CASE("shared site: the ops have the same parameters") {
  Stages stages;
  stages.front({meeting("p")}).back({meeting("q", "psum", {"x", "stage"})});
  CHECK(
      stages.errors() ==
      Errors{"/q/axis_name: psum \"q\": expected the same axis_name at site \"all\" as \"p\" has"});
}

TEST_CASE("shared site: a parameter that only one op has is a difference") {
  Stages stages;
  OpRequest ring = meeting("q");
  ring.attributes.set("algorithm", std::string("ring"));
  stages.front({meeting("p")}).back({ring});
  CHECK(stages.errors() ==
        Errors{"/q/algorithm: psum \"q\": expected the same algorithm at site \"all\" as \"p\" "
               "has"});
}

TEST_CASE("shared site: the ops have operands of one dtype and shape") {
  Stages stages;
  stages.builder.argument("b", Dtype::F32, {5}, {});
  OpRequest other = meeting("q");
  other.operands = {"b"};
  stages.front({meeting("p")}).back({other});
  CHECK(stages.errors() ==
        Errors{"/q/of: psum \"q\": expected an operand of f32[4] at site \"all\", as \"p\" has, "
               "got f32[5]"});
}

TEST_CASE("shared site: groups are not checked where the ops do not match") {
  Stages stages;
  stages.front({meeting("p"), meeting("q")}).back({});
  CHECK(
      stages.errors() ==
      Errors{"/q/site: psum \"q\": expected each program to issue site \"all\" once, got it twice "
             "in program \"front\""});
}

TEST_CASE("shared site: no further errors after one of its ops was refused") {
  Stages stages;
  OpRequest invalid = meeting("p");
  invalid.operands = {"nothing"};
  stages.front({invalid}).back({meeting("q")});
  CHECK(stages.errors() ==
        Errors{"/p/of: expected the id of an array or of an earlier op, got \"nothing\""});
}

}  // namespace
}  // namespace orrery
