import CBertQA
import Glibc

/// The number of threads that this process can run at once.
enum ProcessorCount {
  /// Returns the smaller of the CPU affinity and the cgroup CPU quota (rounded up), at least 1.
  static func available() -> Int {
    max(1, min(affinity(), CgroupQuota.processors(root: "") ?? .max))
  }

  /// Returns the number of CPUs in the calling thread's affinity mask.
  static func affinity() -> Int {
    let count = bq_affinity_count()
    return max(1, count > 0 ? Int(count) : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}
