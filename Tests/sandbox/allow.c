// Runs a program under a seccomp filter that ends the process at a system call that is not on the list.
// usage: allow PROGRAM [ARGUMENT]...
//
// allowed.inc, which Tests/python/tool/test_sandbox.py makes of docs/security.md, has "ALLOW(SYS_name)" for each call of the
// list that this architecture has. More strictly than the names say: clone makes threads only, nothing becomes
// executable by mprotect, and execve is allowed for the launcher's own call, which it tells by the address of the path.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define DATA(member) offsetof(struct seccomp_data, member)
// Little-endian: the lower half of an argument comes first.
#define LOWER(argument) (DATA(args) + 8 * (argument))
#define UPPER(argument) (LOWER(argument) + 4)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define EQUAL(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (otherwise))
#define ALLOW(number) EQUAL((number), 1), RETURN(SECCOMP_RET_ALLOW),

int main(int count, char **arguments) {
  if (count < 2) return 125;
  const uint64_t path = (uint64_t)(uintptr_t)arguments[1];
  struct sock_filter program[] = {
    LOAD(DATA(arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(DATA(nr)),

    // Its flags lie in memory, where a filter cannot look: the C library then uses clone.
    EQUAL(SYS_clone3, 1),
    RETURN(SECCOMP_RET_ERRNO | ENOSYS),

    EQUAL(SYS_clone, 4),
    LOAD(LOWER(0)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
    RETURN(SECCOMP_RET_ALLOW),
    RETURN(SECCOMP_RET_KILL_PROCESS),

    EQUAL(SYS_mprotect, 4),
    LOAD(LOWER(2)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
    RETURN(SECCOMP_RET_ALLOW),
    RETURN(SECCOMP_RET_KILL_PROCESS),

    EQUAL(SYS_execve, 6),
    LOAD(LOWER(0)),
    EQUAL((uint32_t)path, 3),
    LOAD(UPPER(0)),
    EQUAL((uint32_t)(path >> 32), 1),
    RETURN(SECCOMP_RET_ALLOW),
    RETURN(SECCOMP_RET_KILL_PROCESS),

#include "allowed.inc"
    RETURN(SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof program / sizeof *program, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    fprintf(stderr, "allow: no seccomp: %s\n", strerror(errno));
    return 125;
  }
  char *environment[] = {NULL};
  execve(arguments[1], arguments + 1, environment);
  return 127;
}
