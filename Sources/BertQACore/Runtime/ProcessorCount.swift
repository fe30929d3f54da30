import CBertQA
import Glibc

/// How many threads this process can really run at once.
enum ProcessorCount {
  /// The smaller of the CPU affinity and the cgroup CPU quota (rounded up), at least 1.
  static func available() -> Int {
    max(1, min(affinity(), CgroupQuota.processors(root: "") ?? .max))
  }

  /// CPUs in the affinity mask of the calling thread.
  static func affinity() -> Int {
    let count = bq_affinity_count()
    return max(1, count > 0 ? Int(count) : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}
