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

/// The CPU bandwidth limit that a container or service manager has set for this process.
enum CgroupQuota {
  /// Returns quota ÷ period, rounded up: the smallest between the process's group and the root; nil if there
  /// is no limit. `root` is prepended to every absolute path (for tests).
  static func processors(root: String) -> Int? {
    guard let groups = read(root + "/proc/self/cgroup"),
      let mounts = read(root + "/proc/self/mountinfo")
    else { return nil }
    var smallest: Int?
    for line in groups.split(separator: "\n") {
      // hierarchy:controllers:path; version 2 has no controllers.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let unified = fields[1].isEmpty
      guard unified || fields[1].split(separator: ",").contains("cpu"),
        let mount = mountPoint(in: mounts, unified: unified)
      else { continue }
      var path = fields[2]
      // Inside a container the group's path may be the host's while the mount shows only its end.
      let isInside = path == mount.root || path.hasPrefix(mount.root + "/")
      path = isInside ? path.dropFirst(mount.root.count) : ""
      while true {
        if path.last == "/" { path = path.dropLast() }
        let directory = "\(root)\(mount.point)\(path.first == "/" || path.isEmpty ? "" : "/")\(path)"
        if let limit = limit(of: directory, unified: unified) {
          smallest = min(smallest ?? limit, limit)
        }
        guard let parent = path.lastIndex(of: "/") else { break }
        path = path[..<parent]
      }
    }
    return smallest
  }

  private static func mountPoint(
    in mounts: String, unified: Bool
  ) -> (point: Substring, root: Substring)? {
    for line in mounts.split(separator: "\n") {
      // id parent device root point options … - type source super-options
      let fields = line.split(separator: " ")
      guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else { continue }
      let matches =
        unified
        ? fields[dash + 1] == "cgroup2"
        : fields[dash + 1] == "cgroup" && fields[dash + 3].split(separator: ",").contains("cpu")
      if matches { return (fields[4], fields[3] == "/" ? "" : fields[3]) }
    }
    return nil
  }

  private static func limit(of directory: String, unified: Bool) -> Int? {
    let quota: Int?
    let period: Int?
    if unified {
      guard let text = read(directory + "/cpu.max") else { return nil }
      let fields = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
      guard fields.count == 2 else { return nil }
      (quota, period) = (Int(fields[0]), Int(fields[1]))
    } else {
      quota = read(directory + "/cpu.cfs_quota_us").flatMap(number)
      period = read(directory + "/cpu.cfs_period_us").flatMap(number)
    }
    guard let quota, let period, quota > 0, period > 0 else { return nil }
    return (quota - 1) / period + 1
  }

  private static func number(_ text: String) -> Int? {
    text.split(separator: "\n").first.flatMap { Int($0) }
  }

  /// Reads a small text file of the kernel; nil if that fails.
  private static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { piece in
      // 4 MiB: far above any real mountinfo.
      while bytes.count < 1 << 22 {
        let count = Glibc.read(file, piece.baseAddress, piece.count)
        if count < 0, errno == EINTR { continue }
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        guard count > 0 else { return nil }
        bytes.append(contentsOf: piece[..<count])
      }
      return nil
    }
  }
}
