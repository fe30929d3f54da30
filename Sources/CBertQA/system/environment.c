#define _GNU_SOURCE
#include <stdlib.h>

#include "system.h"

const char *bq_environment(const char *name) { return secure_getenv(name); }
