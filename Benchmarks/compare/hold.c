// Holds a process to an older instruction set: preloaded, it makes the processor trap cpuid and answers without the
// features that INSTRUCTION_SET lacks. So every library in the process is held, and all code that they generate, also
// those that no setting limits. Linux on x86-64, with processors (and virtual machines) that can trap cpuid or have
// nothing to hide; elsewhere the process ends with status 3, as it would not be held.
//   cc -O2 -shared -fPIC hold.c -o hold.so && INSTRUCTION_SET=avx2 LD_PRELOAD=./hold.so program
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SET_CPUID = 0x1012 };  // of arch_prctl: 0 traps cpuid in this thread and those it starts

enum { AVX2, AVX2_VNNI, AVX512, AVX512_VNNI, AVX512_VNNI_BF16, AVX512_AMX, SETS };
static const char *const names[SETS] = {"avx2",        "avx2_vnni",        "avx512",
                                        "avx512_vnni", "avx512_vnni_bf16", "avx512_amx"};

// Bits that are hidden, of leaf 7.
static struct {
  uint32_t ebx, ecx, edx;       // part 0
  uint32_t more_eax, more_edx;  // part 1
} hidden;

#define BIT(n) (UINT32_C(1) << (n))

static void hide(int set) {
  // Extensions that no set has: AVX-IFMA, AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16, AVX10,
  // VP2INTERSECT.
  hidden.more_eax = BIT(23);
  hidden.more_edx = BIT(4) | BIT(5) | BIT(10) | BIT(19);
  hidden.edx = BIT(8);
  if (set < AVX512_AMX) {
    hidden.edx |=
        BIT(22) | BIT(23) | BIT(24) | BIT(25);  // AMX-BF16, AVX-512 FP16, AMX-TILE, AMX-INT8
    hidden.more_eax |= BIT(21);                 // AMX-FP16
    hidden.more_edx |= BIT(8);                  // AMX-COMPLEX
  }
  if (set != AVX2_VNNI && set != AVX512_AMX) hidden.more_eax |= BIT(4);  // AVX-VNNI
  if (set < AVX512_VNNI_BF16) hidden.more_eax |= BIT(5);                 // BF16
  if (set < AVX512_VNNI) {
    hidden.ebx |= BIT(21);  // IFMA
    hidden.ecx |=
        BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14);  // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
  }
  if (set < AVX512)
    hidden.ebx |= BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31);  // F, DQ, CD, BW, VL
}

// Returns true if the processor has something to hide.
static int has_hidden(void) {
  uint32_t a = 7, b = 0, c = 0, d = 0, more_a = 7, more_b = 0, more_c = 1, more_d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  __asm__ volatile("cpuid" : "+a"(more_a), "=b"(more_b), "+c"(more_c), "=d"(more_d));
  return (b & hidden.ebx) || (c & hidden.ecx) || (d & hidden.edx) || (more_a & hidden.more_eax) ||
         (more_d & hidden.more_edx);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  if (info->si_code != SI_KERNEL || code[0] != 0x0F || code[1] != 0xA2) {
    signal(number, SIG_DFL);  // some other fault: it happens again, and ends the process
    return;
  }
  const uint32_t leaf = (uint32_t)registers[REG_RAX], part = (uint32_t)registers[REG_RCX];
  uint32_t a = leaf, b = 0, c = part, d = 0;
  syscall(SYS_arch_prctl, SET_CPUID, 1);
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  syscall(SYS_arch_prctl, SET_CPUID, 0);
  if (leaf == 7 && part == 0) b &= ~hidden.ebx, c &= ~hidden.ecx, d &= ~hidden.edx;
  if (leaf == 7 && part == 1) a &= ~hidden.more_eax, d &= ~hidden.more_edx;
  registers[REG_RAX] = a, registers[REG_RBX] = b, registers[REG_RCX] = c, registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void hold(void) {
  const char *name = getenv("INSTRUCTION_SET");
  if (!name) return;
  int set = 0;
  while (set < SETS && strcmp(name, names[set])) set++;
  if (set < SETS) {
    hide(set);
    if (!has_hidden()) return;
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    if (syscall(SYS_arch_prctl, SET_CPUID, 0) == 0) return;
  }
  fprintf(stderr, "not held to the instruction set %s\n", name);
  _exit(3);
}
