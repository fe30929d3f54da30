extension ThreadPool.Team {
  /// As the other `run`, for a body that captures.
  func run(
    count: Int, whileWaiting: () -> Void = {}, _ body: (_ item: Int, _ seat: Int) -> Void
  ) {
    withoutActuallyEscaping(body) { body in
      withoutActuallyEscaping(whileWaiting) { whileWaiting in
        var closures = Closures(body: body, whileWaiting: whileWaiting)
        withUnsafeMutablePointer(to: &closures) { pointer in
          run(
            count: count, context: pointer,
            whileWaiting: { $0.assumingMemoryBound(to: Closures.self).pointee.whileWaiting() }
          ) { context, item, seat in
            context.assumingMemoryBound(to: Closures.self).pointee.body(item, seat)
          }
        }
      }
    }
  }
}

private struct Closures {
  let body: (Int, Int) -> Void
  let whileWaiting: () -> Void
}
