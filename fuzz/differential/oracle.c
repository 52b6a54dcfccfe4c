/* A builtin for bash that tells which texts bash can read.
 *
 * Descriptor 3 holds texts, each ended by NUL; descriptor 4 gets one byte per text: 0 if bash reads
 * it, 1 if not. It does what `bash -n -c TEXT` does (`parse_and_execute` with execution off), in one
 * process as long as nothing is refused: a refused text leaves the parser in an odd state, so each
 * one ends the child that read it. Exit codes do not tell all errors (`[[ -f ]]` ends with 0), so a
 * text counts as refused if bash writes anything but a warning to descriptor 2, a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct word_list;
struct builtin {
  char *name;
  int (*function)(struct word_list *);
  int flags;
  char *const *long_doc;
  const char *short_doc;
  char *handle;
};

/* Bash exports these. */
extern int read_but_dont_execute;
extern int parse_and_execute(char *, const char *, int);
enum { SEVAL_NOHIST = 4, BUILTIN_ENABLED = 1 };

static int refused(const char *text) {
  static char note[65536];
  if (ftruncate(2, 0) || lseek(2, 0, SEEK_SET)) _exit(3);
  int code = parse_and_execute(strdup(text), "-c", SEVAL_NOHIST);
  fflush(stderr);
  if (code) return 1;
  ssize_t length = pread(2, note, sizeof note - 1, 0);
  if (length <= 0) return 0;
  note[length] = 0;
  char *rest = 0;
  for (char *line = strtok_r(note, "\n", &rest); line; line = strtok_r(0, "\n", &rest))
    if (!strstr(line, "warning:")) return 1;
  return 0;
}

static void *shared(size_t size) {
  return mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int oracle(struct word_list *words) {
  (void)words;
  struct stat file;
  if (fstat(3, &file)) return 1;
  char *text = mmap(0, file.st_size + 1, PROT_READ, MAP_PRIVATE, 3, 0);
  size_t count = 0;
  for (off_t at = 0; at < file.st_size; at++) count += text[at] == 0;
  char *answers = shared(count + 1);
  volatile size_t *asked = shared(sizeof *asked);
  for (size_t done = 0; done < count;) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      read_but_dont_execute = 1;
      for (size_t at = done; at < count; at++) {
        answers[at] = '1';
        *asked = at + 1;
        alarm(2); /* some nonsense keeps bash busy for ever */
        if (refused(text)) _exit(0);
        answers[at] = '0';
        /* These may leave bash waiting for an `in`. */
        if (strstr(text, "for") || strstr(text, "select") || strstr(text, "case")) _exit(0);
        text += strlen(text) + 1;
      }
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    for (; done < *asked; done++) text += strlen(text) + 1;
  }
  for (size_t at = 0; at < count;) {
    ssize_t written = write(4, answers + at, count - at);
    if (written <= 0) return 1;
    at += written;
  }
  return 0;
}

static char *long_doc[] = {"Tells which texts bash can read.", 0};
struct builtin oracle_struct = {"oracle", oracle, BUILTIN_ENABLED, long_doc, "oracle", 0};
