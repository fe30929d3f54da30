#ifndef BERTQA_H
#define BERTQA_H
#include <stddef.h>
#include <stdint.h>
#endif
