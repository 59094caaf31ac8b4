/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText 0.2.5 without MaxText: its names, its fill of -1, and what it would say of a job's settings (gke-kuberay-jax
 * 7). Pure. */
#pragma once

#include <quoit/models/maxtext.h>

#include "catalogue/catalogue.h"

/* --- sizes of axes --- */

typedef enum {
  QUOIT_FILL_DONE = 0,
  QUOIT_FILL_TWO_UNSPECIFIED,
  QUOIT_FILL_NOT_WHOLE, /* what -1 stands for is no whole number from 1 */
  QUOIT_FILL_PRODUCT    /* the sizes do not multiply to the target */
} QuoitFill;

/* In place; @sizes is untouched unless DONE. */
QuoitFill quoit_maxtext_try_fill (int64_t *sizes, unsigned n_axes, int64_t target);

/* As numpy multiplies them: modulo 2^64. */
int64_t quoit_maxtext_product (const int64_t *sizes, unsigned n_axes);

/* A size that one axis may have instead. */
typedef struct {
  unsigned axis;
  int64_t size;
} QuoitSizeChange;

/* What would fill, where @sizes do not: at most @most changes, each of which is enough, the smallest first; 0 where
 * none is. @sizes are positive or -1, and @target is positive. */
unsigned quoit_maxtext_changes (const int64_t *sizes, unsigned n_axes, int64_t target, QuoitSizeChange *changes,
                                unsigned most);

/* Sizes that fill, as near to @sizes as no single change comes: what is left over goes to the axis @rest. */
void quoit_maxtext_nearest_sizes (const int64_t *sizes, unsigned n_axes, int64_t target, unsigned rest,
                                  int64_t *nearest);

/* --- names --- */

/* Whether MaxText has a setting of that name. */
gboolean quoit_maxtext_is_key (const char *key);
/* The one that is meant; NULL where none comes near. */
const char *quoit_maxtext_nearest_key (const char *key);
/* The number of letters to take out, put in or exchange. */
unsigned quoit_text_distance (const char *a, const char *b);

/* An axis of a mesh, and what stands before "_parallelism" and behind "ici_" or "dcn_" in the key of its size; NULL: it
 * has none, and is always 1. */
typedef struct {
  const char *name, *key;
} QuoitMaxtextAxisName;

const QuoitMaxtextAxisName *quoit_maxtext_axis_find (const char *name);
/* Those that have a key; NULL behind the last. */
const QuoitMaxtextAxisName *quoit_maxtext_axis_row (unsigned index);
/* The axes of base.yml, in its order; ends with NULL. */
extern const char *const quoit_maxtext_default_axes[];

/* The name of the slice in MaxText's table; NULL where it has none. */
const QuoitMaxtextAccelerator *quoit_maxtext_accelerator_of (QuoitGeneration generation, QuoitShape shape);
/* FALSE for what is no TPU. */
gboolean quoit_maxtext_accelerator_shape (const QuoitMaxtextAccelerator *accelerator, QuoitGeneration *generation,
                                          QuoitShape *shape);

/* --- findings --- */

typedef enum {
  QUOIT_MAXTEXT_RULE_SETTING = 0,
  QUOIT_MAXTEXT_RULE_CONFIG_FILE,
  QUOIT_MAXTEXT_RULE_KEY_UNKNOWN,
  QUOIT_MAXTEXT_RULE_KEY_REPEATED,
  QUOIT_MAXTEXT_RULE_VALUE,
  QUOIT_MAXTEXT_RULE_HARDWARE,
  QUOIT_MAXTEXT_RULE_MULTISLICE,
  QUOIT_MAXTEXT_RULE_NUM_SLICES,
  QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY,
  QUOIT_MAXTEXT_RULE_MESH_AXES,
  QUOIT_MAXTEXT_RULE_AXIS_UNUSED,
  QUOIT_MAXTEXT_RULE_AXIS_SIZE,
  QUOIT_MAXTEXT_RULE_UNSPECIFIED_TWICE,
  QUOIT_MAXTEXT_RULE_UNSPECIFIED_VALUE,
  QUOIT_MAXTEXT_RULE_ICI_PRODUCT,
  QUOIT_MAXTEXT_RULE_DCN_PRODUCT,
  QUOIT_MAXTEXT_RULE_DCN_ONE_SLICE,
  QUOIT_MAXTEXT_RULE_MESH,
  QUOIT_MAXTEXT_RULE_CUSTOM_MESH,
  QUOIT_MAXTEXT_RULE_CUSTOM_MESH_UNUSED,
  QUOIT_MAXTEXT_RULE_BATCH_EMPTY,
  QUOIT_MAXTEXT_RULE_BATCH_DEVICES,
  QUOIT_MAXTEXT_RULE_BATCH_SHARDS,
  QUOIT_MAXTEXT_RULE_PIPELINE,
  QUOIT_MAXTEXT_RULE_SCALING,
  QUOIT_MAXTEXT_RULE_SCALING_TOPOLOGY,
  QUOIT_MAXTEXT_RULE_SCALING_SLICES,
  QUOIT_MAXTEXT_RULE_SCALING_ELASTIC,
  QUOIT_N_MAXTEXT_RULES
} QuoitMaxtextRule;

/* Of a setting: where a file has it. */
typedef struct {
  char *file;
  unsigned line;
} QuoitMaxtextPlace;

typedef struct {
  QuoitMaxtextRule rule;
  char *key, *value, *expected, *message; /* @key, @value: NULL where there is none */
  QuoitMaxtextPlace place;                /* of no file where it is not about one */
} QuoitMaxtextFinding;

typedef struct {
  char *name;
  int64_t ici, dcn;
} QuoitMaxtextAxis;

struct _QuoitMaxtextReport {
  GArray *findings; /* of QuoitMaxtextFinding */
  GArray *axes;     /* of QuoitMaxtextAxis */
  GArray *asked;    /* of the same, before -1 was filled in */
  int64_t numbers[QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD + 1];
  QuoitSliceFacts slice;            /* that it is about */
  GHashTable *places;               /* key -> QuoitMaxtextPlace, of settings that are as a file has them */
  const QuoitMaxtextPlace *reading; /* of what is found about no key; NULL: no file */
};

QuoitMaxtextReport *quoit_maxtext_report_new (void);
/* The message is "FILE: line N: KEY 'VALUE': expected EXPECTED", with what of it is there. */
void quoit_maxtext_report_add (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *key, const char *value,
                               const char *expected, ...) G_GNUC_PRINTF (5, 6);
/* The same of what another part of the library refuses: "WHAT: " and its message. */
void quoit_maxtext_report_refusal (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *what,
                                   const GError *why);
void quoit_maxtext_report_axis (GArray *axes, const char *name, int64_t ici, int64_t dcn);
/* Where what is found about @key from now on is said to be; NULL: in no file. Copies it. */
void quoit_maxtext_report_place (QuoitMaxtextReport *report, const char *key, const QuoitMaxtextPlace *place);
gboolean quoit_maxtext_rule_at (unsigned index, const char **name, QuoitSeverity *severity);

/* --- settings --- */

typedef struct _QuoitMaxtextSettings QuoitMaxtextSettings;

/* A setting of a file. */
typedef struct {
  char *key, *value;
  QuoitMaxtextPlace place;
} QuoitMaxtextEntry;

/* What files say, of QuoitMaxtextEntry, the later ones over the earlier; and over all of them words of MaxText's
 * command line. What is wrong with them is reported. */
QuoitMaxtextSettings *quoit_maxtext_settings_new (const GArray *entries, const GPtrArray *words,
                                                  QuoitMaxtextReport *report);
void quoit_maxtext_settings_free (QuoitMaxtextSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextSettings, quoit_maxtext_settings_free)

/* The text of a setting; NULL where it was not given. */
const char *quoit_maxtext_settings_find (const QuoitMaxtextSettings *settings, const char *key);
/* What was given, else @unset; and @unset where that is of another type, which is reported. */
int64_t quoit_maxtext_settings_integer (QuoitMaxtextSettings *settings, const char *key, int64_t unset);
double quoit_maxtext_settings_number (QuoitMaxtextSettings *settings, const char *key, double unset);
gboolean quoit_maxtext_settings_flag (QuoitMaxtextSettings *settings, const char *key, gboolean unset);

/* --- a job --- */

enum { QUOIT_MAXTEXT_MOST_SLICES = 1000000 };

struct _QuoitMaxtextJob {
  GArray *entries; /* of QuoitMaxtextEntry, file by file */
  GPtrArray *words;
  QuoitSliceFacts slice; /* of generation NONE: not said */
  uint32_t n_slices;
};

/* One that is looked at: what its rules share. */
typedef struct {
  QuoitMaxtextSettings *settings;
  QuoitMaxtextReport *report;
  QuoitSliceFacts slice;
  int64_t n_slices;  /* there are */
  int64_t n_devices; /* of a slice */
  QuoitShape box;    /* of chips that have them: the slice, or what a single controller keeps of it */
} QuoitMaxtextLook;

/* INVALID when nobody says what the slices are. */
QuoitMaxtextReport *quoit_maxtext_look (const QuoitMaxtextJob *job, GError **error);
/* How many slices MaxText takes there to be. */
int64_t quoit_maxtext_look_slices (QuoitMaxtextLook *look);
/* The axes of the mesh into the report, filled. FALSE where that cannot be, which is reported. */
gboolean quoit_maxtext_look_axes (QuoitMaxtextLook *look, int64_t n_slices);
/* @is_filled: whether the report's axes are. */
void quoit_maxtext_look_batch (QuoitMaxtextLook *look, gboolean is_filled);
