import Foundation
import Testing

@testable import BertQACore

@Suite struct ProcessorCountTests {
  /// A file system root with the given files.
  private func quota(_ files: [String: String]) throws -> Int? {
    let root = FileManager.default.temporaryDirectory.path + "/bertqa-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (path, text) in files {
      let file = root + path
      try FileManager.default.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try text.write(toFile: file, atomically: false, encoding: .utf8)
    }
    return CgroupQuota.processors(root: root)
  }

  private let unified = "25 20 0:22 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
  private let divided =
    "24 20 0:21 / /proc rw - proc proc rw\n"
    + "33 32 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw master:15 - cgroup cgroup rw,cpu,cpuacct\n"

  @Test func unifiedHierarchyTakesTheSmallestLimitOnTheWay() throws {
    let files = [
      "/proc/self/cgroup": "0::/app.slice/app.service\n", "/proc/self/mountinfo": unified,
      "/sys/fs/cgroup/app.slice/cpu.max": "250000 100000\n",
      "/sys/fs/cgroup/app.slice/app.service/cpu.max": "max 100000\n",
    ]
    #expect(try quota(files) == 3)
  }

  @Test func containerSeesItsGroupAsTheRoot() throws {
    let files = [
      "/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": unified,
      "/sys/fs/cgroup/cpu.max": "50000 100000\n",
    ]
    #expect(try quota(files) == 1)
  }

  @Test func versionOneWithAContainersMount() throws {
    let files = [
      "/proc/self/cgroup": "7:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc/job\n",
      "/proc/self/mountinfo": divided,
      "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "400000\n",
      "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    ]
    #expect(try quota(files) == 4)
  }

  @Test func aGroupWhoseNameBeginsLikeTheMountsIsNotInIt() throws {
    let files = [
      "/proc/self/cgroup": "4:cpu,cpuacct:/docker/abcd\n", "/proc/self/mountinfo": divided,
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    ]
    #expect(try quota(files) == 2)
  }

  @Test(arguments: ["", "max\n", "0 0\n", "-5 100000\n", "many 100000\n", "99999999999999999999 1\n"])
  func oddLimitsAreNone(text: String) throws {
    let files = [
      "/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": unified, "/sys/fs/cgroup/cpu.max": text,
    ]
    #expect(try quota(files) == nil)
  }

  @Test func withoutProcThereIsNoLimit() throws {
    #expect(try quota([:]) == nil)
  }

  @Test func thereIsAlwaysAProcessor() {
    #expect(ProcessorCount.available() >= 1)
    #expect(ProcessorCount.affinity() <= ProcessInfo.processInfo.processorCount)
  }
}
