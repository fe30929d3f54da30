#include "../../../include/bertqa_experimental.h"
