/* A thread uses the library for the first time while another one forks: the child goes on, too. Each round is a process
 * of its own in which nothing of the library has run but bertqa_warm_up(). */
#include <signal.h>
#include <time.h>

#include "everything.h"

enum { ROUNDS = 60 };

/* Waits for a child, which SIGALRM ends where it hangs. */
static int succeeds(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_round(long nanoseconds) {
  alarm(60);
  failed = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_warm_up());
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_everything, NULL) == 0);
  const struct timespec pause = {0, nanoseconds};
  nanosleep(&pause, NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    failed = 0;
    use_everything(NULL);
    _exit(failed == 0 ? 0 : 1);
  }
  CHECK(succeeds(child));
  pthread_join(thread, NULL);
  _exit(failed == 0 ? 0 : 1);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  begin_everything();
  for (long round = 0; round < ROUNDS; round++) {
    const pid_t child = fork();
    if (child == 0) run_round(round * 500000); /* up to 30 ms after the thread began */
    CHECK(succeeds(child));
  }
  end_everything();
  return finish();
}
