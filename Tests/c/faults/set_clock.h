/* A clock that is set: these take the place of the C library's functions. The time of day is what jump() says; the other
 * clocks are the system's. The including file defines, before it,
 *   static void jump(struct timespec *time);   */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int is_of_the_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!is_of_the_day(clock)) return (int)syscall(SYS_clock_gettime, clock, time);
  jump(time);
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  jump(&now);
  *time = (struct timeval){now.tv_sec, 0};
  return 0;
}

time_t time(time_t *where) {
  struct timespec now;
  jump(&now);
  if (where != NULL) *where = now.tv_sec;
  return now.tv_sec;
}
