// The parts of the binary interfaces of zlib (libz.so.1) and Zstandard (libzstd.so.1) that the tool
// uses. Both have been stable since their first versions. The tool opens the libraries when it
// reads a compressed file: it builds without their headers and runs on machines without them.
#pragma once
#include <stddef.h>

// z_stream of zlib.h.
typedef struct {
  const unsigned char *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *msg;
  void *state;
  void *zalloc;
  void *zfree;
  void *opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
} codecs_z_stream;

// ZSTD_inBuffer and ZSTD_outBuffer of zstd.h.
typedef struct {
  const void *src;
  size_t size;
  size_t pos;
} codecs_zstd_in;

typedef struct {
  void *dst;
  size_t size;
  size_t pos;
} codecs_zstd_out;
