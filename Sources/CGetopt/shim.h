#include <getopt.h>  // Swift's Glibc module leaves it out.
