/* Runs a target on each file of the directories that are its arguments, without libFuzzer. */
#include "fuzz.h"

static void replay(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  static uint8_t buffer[1 << 20];
  size_t size = fread(buffer, 1, sizeof buffer, file);
  fclose(file);
  uint8_t *exact = malloc(size + 1); /* so that memory checkers see its end */
  if (exact == NULL) exit(2);
  memcpy(exact, buffer, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

int main(int argc, char **argv) {
  size_t count = 0;
  for (int i = 1; i < argc; i++) {
    DIR *directory = opendir(argv[i]);
    if (directory == NULL) {
      perror(argv[i]);
      return 2;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
      if (entry->d_name[0] == '.') continue;
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
      replay(path);
      count++;
    }
    closedir(directory);
  }
  printf("%zu inputs\n", count);
  return count > 0 ? 0 : 2;
}
