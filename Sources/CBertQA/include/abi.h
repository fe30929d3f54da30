#include "../../../include/bertqa.h"
