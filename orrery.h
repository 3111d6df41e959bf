#pragma once

// This header is the library: it includes everything that a program which uses the library needs.
// The following program reads a scenario, runs it, and looks at the report.
//
//     #include <iostream>
//
//     #include "orrery.h"
//
//     int main(int, char** arguments) {
//       const orrery::Report report = orrery::run(orrery::load_scenario(arguments[1]), {});
//       if (report.completion)
//         std::cout << report.completion->makespan.picoseconds() << " ps\n";
//       std::cout << report.memory.largest_peak().count() << " B on a device\n";
//       for (const orrery::Check& check : report.checks)
//         if (!check.holds())
//           std::cout << check.name << ": " << check.said() << "\n";
//       return report.holds() ? 0 : 1;
//     }
//
// How it works: a Scenario is a program, a cluster, data and expectations. It is read from JSON
// (reader.h), or its program is built by calls (builder.h; tests/api/sum_over_devices.cc does so).
// Clusters come from the catalog (cluster_json.h), or are made of a fabric (fabric.h). run() lowers
// the program to schedules, times them, moves data through them and checks them. Its Report is
// plain data, and owns the scenario. verify() runs cases of a law (law.h). Wrong input throws
// InputError with all its errors.

#include "models/program/builder.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "verifier/laws/verify.h"
#include "verifier/run.h"
