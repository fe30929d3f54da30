/* A server whose worker processes share one model. It is loaded before the fork, so its
 * memory-mapped weights and its tables are in memory once.
 *
 *     ./prefork_server /tmp/qa.socket 4 &
 *     printf 'Who jumped?\tThe quick brown fox jumped.\n' | nc -NU /tmp/qa.socket
 *
 * A request is a line with a question, a tab and a document. The response is a line with the ID
 * of the process, a tab and the answer, which is empty if there is none. On SIGTERM the server
 * finishes the requests that it has read and exits. */
#define _GNU_SOURCE /* ppoll */
#include <bertqa.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_REQUEST (1 << 20)

static bertqa_context *context;
static sigset_t not_blocked; /* the signal mask while waiting: a stop takes effect only between requests */
static volatile sig_atomic_t stopped;
static int failures;

static void stop(int number) { stopped = number; }

/* True if input has arrived; false if the server ends. */
static int wait_for(int descriptor) {
  struct pollfd poll = {.fd = descriptor, .events = POLLIN};
  while (!stopped && ppoll(&poll, 1, NULL, &not_blocked) < 0 && errno == EINTR) continue;
  return !stopped;
}

/* Answers one request, given without its newline. Returns 0 if the client has closed. */
static int respond(int client, char *request, size_t length) {
  char *tab = memchr(request, '\t', length);
  char *document = tab != NULL ? tab + 1 : request + length;
  size_t question_length = (size_t)((tab != NULL ? tab : document) - request);
  char response[4096] = "";
  int used = snprintf(response, sizeof response, "%d\t", (int)getpid());
  bertqa_answers *answers;
  if (bertqa_answer(context, request, question_length, document, (size_t)(request + length - document),
                    NULL, &answers) != BERTQA_OK) {
    fprintf(stderr, "prefork_server: %s\n", bertqa_last_error());
  } else if (bertqa_answers_count(answers) > 0) {
    bertqa_range range = bertqa_answers_get(answers, 0)->bytes;
    size_t room = sizeof response - 1 - (size_t)used, size = range.end - range.start;
    if (size > room) size = room;
    memcpy(response + used, document + range.start, size);
    used += (int)size;
  }
  bertqa_answers_free(answers);
  response[used] = '\n';
  return send(client, response, (size_t)used + 1, MSG_NOSIGNAL) == used + 1;
}

static void serve(int client) {
  static char buffer[MAX_REQUEST];
  size_t length = 0;
  ssize_t count;
  while (length < sizeof buffer && wait_for(client) &&
         (count = read(client, buffer + length, sizeof buffer - length)) > 0) {
    length += (size_t)count;
    char *start = buffer, *end;
    while ((end = memchr(start, '\n', (size_t)(buffer + length - start))) != NULL) {
      if (!respond(client, start, (size_t)(end - start))) return;
      start = end + 1;
    }
    length -= (size_t)(start - buffer);
    memmove(buffer, start, length);
  }
}

static pid_t start_worker(int listener) {
  pid_t worker = fork();
  if (worker < 0) {
    perror("fork");
    failures++;
    raise(SIGTERM); /* the server ends rather than run with fewer workers */
  }
  if (worker != 0) return worker;
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* a worker does not outlive the server */
  while (wait_for(listener)) {
    int client = accept(listener, NULL, NULL); /* nonblocking: another worker may be first */
    if (client < 0) continue;
    serve(client);
    close(client);
  }
  bertqa_context_free(context);
  exit(0);
}

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int count = argc >= 3 ? atoi(argv[2]) : 0;
  if (count < 1 || count > 256 || argc > 4 || strlen(argv[1]) >= sizeof address.sun_path) {
    fprintf(stderr, "usage: %s SOCKET WORKERS [MODEL_DIRECTORY]\n", argv[0]);
    return 2;
  }
  bertqa_context_options options = {.struct_size = sizeof options, .threads = 1}; /* the workers run in parallel */
  if (bertqa_context_create(argc > 3 ? argv[3] : NULL, &options, &context) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }
  strcpy(address.sun_path, argv[1]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct stat status;
  if (lstat(argv[1], &status) == 0 && S_ISSOCK(status.st_mode)) unlink(argv[1]); /* left by a killed server */
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) {
    perror(argv[1]);
    return 1;
  }

  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &not_blocked);
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  pid_t workers[256];
  for (int i = 0; i < count; i++) workers[i] = start_worker(listener);
  for (int number = SIGCHLD; number != SIGTERM && number != SIGINT; number = sigwaitinfo(&blocked, NULL)) {
    for (int i = 0; i < count; i++) {
      /* Replaces a worker that has exited. */
      if (workers[i] > 0 && waitpid(workers[i], NULL, WNOHANG) == workers[i])
        workers[i] = start_worker(listener);
    }
  }
  for (int i = 0; i < count; i++) {
    if (workers[i] > 0) kill(workers[i], SIGTERM);
  }
  int result;
  while (wait(&result) > 0) failures += result != 0;
  unlink(argv[1]);
  bertqa_context_free(context);
  return failures == 0 ? 0 : 1;
}
