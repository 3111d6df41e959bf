#include "tools/cli/perf_flags.h"

#include <array>

namespace orrery {

std::span<const PerfFlag> perf_flags() {
  static const std::array kFlags = {
      PerfFlag{"-t,--nthreads", "N", "Threads per process (default: 1)", &PerfCommand::threads, 1},
      PerfFlag{"-g,--ngpus", "N",
               "GPUs per thread (default: 1); ranks are processes times threads "
               "times GPUs",
               &PerfCommand::gpus, 1},
      PerfFlag{"-b,--minbytes", "SIZE",
               "The size to begin with: bytes, or with K, M or G for "
               "powers of 1024 (default: 32M)",
               &PerfCommand::least},
      PerfFlag{"-e,--maxbytes", "SIZE", "The largest size (default: 32M)", &PerfCommand::most},
      PerfFlag{"-i,--stepbytes", "SIZE", "From one size to the next (default: 1M)",
               &PerfCommand::step},
      PerfFlag{"-f,--stepfactor", "N", "Multiplies one size to the next, instead of -i",
               &PerfCommand::factor, 0},
      PerfFlag{"-n,--iters", "N",
               "Iterations (default: 20). In a simulation they are all alike, and "
               "one is run",
               &PerfCommand::iterations, 1},
      PerfFlag{"-m,--agg_iters", "N", "Calls aggregated in an iteration (default: 1); one is run",
               &PerfCommand::aggregated, 1},
      PerfFlag{"-w,--warmup_iters", "N", "Iterations before (default: 1); none is run",
               &PerfCommand::warmup, 0},
      PerfFlag{"-c,--check", "N", "0: values are not checked (default: 1)", &PerfCommand::checks,
               0},
      PerfFlag{"-o,--op", "OP", "sum, max, min, avg or all (default: sum)", &PerfCommand::op},
      PerfFlag{"-d,--datatype", "TYPE", "int8, half, float, bfloat16, .. or all (default: float)",
               &PerfCommand::type},
      PerfFlag{"-r,--root", "RANK",
               "The root of broadcast, gather and scatter, or all (default: 0)",
               &PerfCommand::root},
      PerfFlag{"-N,--run_cycles", "N", "Not read: all cycles are alike", Unread{}},
      PerfFlag{"-p,--parallel_init", "0|1", "Not read", Unread{}},
      PerfFlag{"-z,--blocking", "0|1|2|3", "Not read", Unread{}},
      PerfFlag{"-y,--stream_null", "0|1", "Not read", Unread{}},
      PerfFlag{"-T,--timeout", "S", "Not read", Unread{}},
      PerfFlag{"-G,--cudagraph", "N", "Not read", Unread{}},
      PerfFlag{"-C,--report_cputime", "0|1", "Not read: there is no processor's time", Unread{}},
      PerfFlag{"-S,--report_timestamps", "0|1", "Not read: there is no clock", Unread{}},
      PerfFlag{"-a,--average", "0|1|2|3", "Not read: times are until the last rank has ended",
               Unread{}},
      PerfFlag{"-R,--local_register", "0|1|2", "Not read", Unread{}},
      PerfFlag{"-x,--cta_policy", "0|1|2", "Not read", Unread{}},
      PerfFlag{"-D,--device_implementation", "N", "Not read", Unread{}},
      PerfFlag{"-V,--device_cta_count", "N", "Not read", Unread{}},
      PerfFlag{"-M,--memory", "0|1", "Not read; orrery run shows memory", Unread{}},
      PerfFlag{"-u,--unalign", "N", "Not read: there are no addresses", Unread{}},
      PerfFlag{"-I,--per_iter_timing", "0|1", "Not read: all iterations are alike", Unread{}},
      PerfFlag{"-K,--per_iter_skip", "N", "Not read", Unread{}},
  };
  return kFlags;
}

}  // namespace orrery
