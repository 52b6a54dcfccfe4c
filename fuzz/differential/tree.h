/* Commands as bash 5.2 keeps them, and how they are written down. */
#pragma once
#include <string.h>

struct word { char *text; int flags; };
struct word_list { struct word_list *next; struct word *word; };
struct redirect {
  struct redirect *next;
  void *from;
  int from_flags, flags, kind;
  union { int number; struct word *word; } to;
};
struct command { int kind, flags, line; struct redirect *redirects; void *value; };
struct pattern { struct pattern *next; struct word_list *words; struct command *body; };

/* The kinds of command, in order. */
enum { FOR, CASE, WHILE, IF, SIMPLE, SELECT, PAIR, FUNCTION, UNTIL, GROUP, ARITHMETIC, TEST,
       FOR_ARITHMETIC, SUBSHELL, COPROCESS };
struct loop { int flags, line; struct word *name; struct word_list *words; struct command *body; };
struct arithmetic_loop { int flags, line; struct word_list *head[3]; struct command *body; };
struct choice { int flags, line; struct word *word; struct pattern *patterns; };
struct branch { int flags; struct command *parts[3]; };
struct simple { int flags, line; struct word_list *words; struct redirect *redirects; };
struct inner { int flags, line; struct command *body; };
struct group { int flags; struct command *body; };
struct named { int flags; char *name; struct command *body; };
struct function { int flags, line; struct word *name; struct command *body; };

/* What stands before a command, before a word of it, and before another word. */
enum { COMMAND = 0x1c, WORD, OTHER };

static char notes[1 << 22];
static size_t noted;

static void note_byte(char byte) {
  if (noted < sizeof notes) notes[noted++] = byte;
}

/* Bash decodes $'\c}', which can make such a mark. */
static void note(const char *text) {
  for (; *text; text++) note_byte(*text >= COMMAND && *text <= OTHER ? 0x1f : *text);
}

static void note_words(char mark, struct word_list *words) {
  for (; words; words = words->next) {
    note_byte(mark);
    note(words->word->text);
  }
}

/* Descriptors are numbers; everything else is a word. */
static void note_redirects(struct redirect *redirect) {
  for (; redirect; redirect = redirect->next) {
    int kind = redirect->kind;
    if (kind == 6 || kind == 7 || kind == 9 || kind == 15 || kind == 16) continue;
    note_byte(OTHER);
    if (redirect->to.word && redirect->to.word->text) note(redirect->to.word->text);
  }
}

static void note_command(struct command *command) {
  if (!command) return;
  void *value = command->value;
  note_redirects(command->redirects);
  switch (command->kind) {
    case FOR: case SELECT: {
      struct loop *loop = value;
      note_words(OTHER, loop->words);
      return note_command(loop->body);
    }
    case CASE: {
      struct choice *choice = value;
      note_byte(OTHER);
      note(choice->word->text);
      for (struct pattern *at = choice->patterns; at; at = at->next) {
        note_words(OTHER, at->words);
        note_command(at->body);
      }
      return;
    }
    case IF: case WHILE: case UNTIL: case PAIR: {
      struct branch *branch = value;
      for (int at = 0; at < (command->kind == IF ? 3 : 2); at++) note_command(branch->parts[at]);
      return;
    }
    case SIMPLE: {
      struct simple *simple = value;
      note_byte(COMMAND);
      note_words(WORD, simple->words);
      return note_redirects(simple->redirects);
    }
    case FUNCTION: return note_command(((struct function *)value)->body);
    case GROUP: return note_command(((struct group *)value)->body);
    case FOR_ARITHMETIC: return note_command(((struct arithmetic_loop *)value)->body);
    case SUBSHELL: return note_command(((struct inner *)value)->body);
    case COPROCESS: return note_command(((struct named *)value)->body);
    default: return;
  }
}
