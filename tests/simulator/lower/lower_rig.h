#pragma once

// These are short ways to write programs and lower them onto a cluster that a test may change.

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/program/builder.h"
#include "simulator/lower/lower.h"

namespace orrery::test {

using Names = std::vector<std::string>;
using Parameters = std::vector<std::pair<std::string, Attribute>>;

class LowerRig {
 public:
  explicit LowerRig(uint32_t devices)
      : cluster{"rig",
                fully_connected_fabric(devices, {BytesPerSecond(1'000'000'000), Duration(1000)}),
                {}},
        builder_(Mesh({{"x", devices}}), Checks::Shapes, diagnostics_) {}

  LowerRig& argument(const std::string& name, Dtype dtype, Shape shape) {
    builder_.argument(name, dtype, std::move(shape), {"x"});
    return *this;
  }
  /// Begins a thread. Without this call, the first op begins a thread over all devices.
  LowerRig& thread(std::vector<LogicalId> devices) {
    builder_.thread("t" + std::to_string(threads_++), std::move(devices));
    return *this;
  }
  /// Adds an op, named as in a scenario: "psum_start". Its position is line 7 of a file.
  LowerRig& op(const std::string& op, const std::string& name, Names operands,
               const Parameters& parameters = {}, std::string site = {}, Names other_results = {}) {
    if (threads_ == 0) {
      std::vector<LogicalId> all;
      for (uint32_t d = 0; d < cluster.fabric.devices(); ++d)
        all.emplace_back(d);
      thread(std::move(all));
    }
    const OpName named = op_named(op).value();
    OpRequest request;
    request.name = name;
    request.kind = named.kind;
    request.issue = named.issue;
    request.operands = std::move(operands);
    request.site = std::move(site);
    request.other_results = std::move(other_results);
    request.origin = Origin{"/program/" + name, TextPosition{7, 1}};
    for (const auto& [key, value] : parameters)
      request.attributes.set(key, value);
    builder_.op(std::move(request));
    return *this;
  }

  /// Ends the program and lowers it. Throws InputError, which fails the test, if there is an error.
  const Lowered& lower() {
    build();
    lowered = orrery::lower(program, cluster, diagnostics_);
    diagnostics_.throw_if_any();
    return lowered;
  }
  /// Ends the program, lowers it, and returns the error; "" if there is none.
  std::string error(const Limits& limits = {}) {
    build();
    orrery::lower(program, cluster, diagnostics_, limits);
    try {
      diagnostics_.throw_if_any();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  Duration local(const std::string& name) const {
    for (size_t i = 0; i < program.ops.size(); ++i)
      if (program.ops[i].name == name)
        return lowered.local[i].common;
    FAIL("no op " << name);
    return {};
  }

  Cluster cluster;
  Program program;
  Lowered lowered;

 private:
  void build() {
    program = builder_.finish();
    diagnostics_.throw_if_any();
  }

  Diagnostics diagnostics_{"rig.json"};
  ProgramBuilder builder_;
  size_t threads_ = 0;
};

}  // namespace orrery::test
