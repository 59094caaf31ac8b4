/* SPDX-License-Identifier: Apache-2.0 */
/* A model of MaxText 0.2.5 (gke-kuberay-jax 7): its names, its rule that fills -1, and its checks of a job's
 * settings. Pure. */
#pragma once

#include <quoit/models/maxtext.h>

#include "catalogue/catalogue.h"

/* --- sizes of axes --- */

typedef enum {
  QUOIT_FILL_DONE = 0,
  QUOIT_FILL_TWO_UNSPECIFIED,
  QUOIT_FILL_NOT_WHOLE, /* the value for -1 is not a whole number of 1 or more */
  QUOIT_FILL_PRODUCT    /* the product of the sizes is not the target */
} QuoitFillResult;

/* Replaces -1 in @sizes. Does not change @sizes unless it returns DONE. */
QuoitFillResult quoit_maxtext_try_fill (int64_t *sizes, unsigned n_axes, int64_t target);

/* Returns the product modulo 2^64, like NumPy. */
int64_t quoit_maxtext_product (const int64_t *sizes, unsigned n_axes);

/* Another size for one axis. */
typedef struct {
  unsigned axis;
  int64_t size;
} QuoitSizeChange;

/* Finds single changes of @sizes that make the fill possible. Writes at most @most of them, the smallest change
 * first, and returns their number. The sizes must be positive or -1, and @target must be positive. */
unsigned quoit_maxtext_find_size_changes (const int64_t *sizes, unsigned n_axes, int64_t target,
                                          QuoitSizeChange *changes, unsigned most);

/* Finds sizes that reach the target and are near to @sizes, for cases where no single change is enough. The axis
 * @remainder_axis gets the remaining factor. */
void quoit_maxtext_nearest_sizes (const int64_t *sizes, unsigned n_axes, int64_t target, unsigned remainder_axis,
                                  int64_t *nearest);

/* --- names --- */

/* Returns whether MaxText has a setting of that name. */
gboolean quoit_maxtext_is_key (const char *key);
/* Returns the setting with the most similar name, or NULL if none is similar. */
const char *quoit_maxtext_nearest_key (const char *key);

/* An axis of a mesh. @key is the part of its size's key between "ici_" or "dcn_" and "_parallelism". If it is NULL,
 * the axis has no key and its size is always 1. */
typedef struct {
  const char *name, *key;
} QuoitMaxtextAxisName;

const QuoitMaxtextAxisName *quoit_maxtext_axis_find (const char *name);
/* Returns the axes that have a key. NULL: @index is past the last one. */
const QuoitMaxtextAxisName *quoit_maxtext_axis_row (unsigned index);
/* The axes of base.yml, in its order; ends with NULL. */
extern const char *const quoit_maxtext_default_axes[];

/* Returns the row of the slice in MaxText's table, or NULL if it has no such row. */
const QuoitMaxtextAccelerator *quoit_maxtext_find_accelerator (QuoitGeneration generation, QuoitShape shape);
/* Returns the listed name that is nearest to @name. */
const char *quoit_maxtext_nearest_accelerator (const char *name);
/* FALSE if the accelerator is not a TPU. */
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
  QUOIT_MAXTEXT_RULE_MEMORY_STATE,
  QUOIT_MAXTEXT_RULE_MEMORY_TOTAL,
  QUOIT_MAXTEXT_RULE_SCALING,
  QUOIT_MAXTEXT_RULE_SCALING_TOPOLOGY,
  QUOIT_MAXTEXT_RULE_SCALING_SLICES,
  QUOIT_MAXTEXT_RULE_SCALING_ELASTIC,
  QUOIT_N_MAXTEXT_RULES
} QuoitMaxtextRule;

/* The location of a setting in a file. */
typedef struct {
  char *file;
  unsigned line;
} QuoitMaxtextLocation;

typedef struct {
  QuoitMaxtextRule rule;
  char *key, *value, *expected, *message; /* @key and @value may be NULL */
  QuoitMaxtextLocation location;          /* the file is NULL if the finding is not about a file */
} QuoitMaxtextFinding;

typedef struct {
  char *name;
  int64_t ici, dcn;
} QuoitMaxtextAxis;

struct _QuoitMaxtextReport {
  GArray *findings;       /* of QuoitMaxtextFinding */
  GArray *axes;           /* of QuoitMaxtextAxis */
  GArray *requested_axes; /* of QuoitMaxtextAxis, as @axes before -1 was filled in */
  int64_t numbers[QUOIT_MAXTEXT_NUMBER_HBM_BYTES + 1];
  QuoitSliceFacts slice; /* the slice type of the job */
  GHashTable *locations; /* key -> QuoitMaxtextLocation, for settings whose value comes from a file */
  const QuoitMaxtextLocation *current_location; /* the location of findings without a key; NULL: no file */
};

QuoitMaxtextReport *quoit_maxtext_report_new (void);
/* Adds a finding. The message is "FILE: line N: KEY 'VALUE': expected EXPECTED", without the parts that do not
 * apply. */
void quoit_maxtext_report_add (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *key, const char *value,
                               const char *expected, ...) G_GNUC_PRINTF (5, 6);
/* Adds a finding for an error of JAX's or Ray Train's model. The message of @error says what was expected. */
void quoit_maxtext_report_add_error (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *key,
                                     const GError *error);
/* Appends an axis to @axes, a list of axes of a report. */
void quoit_maxtext_axes_add (GArray *axes, const char *name, int64_t ici, int64_t dcn);
/* Sets the location of later findings about @key; NULL: no file. Copies @location. */
void quoit_maxtext_report_set_location (QuoitMaxtextReport *report, const char *key,
                                        const QuoitMaxtextLocation *location);
gboolean quoit_maxtext_rule_at (unsigned index, const char **name, QuoitSeverity *severity);

/* --- settings --- */

typedef struct _QuoitMaxtextSettings QuoitMaxtextSettings;

/* A setting of a file. */
typedef struct {
  char *key, *value;
  QuoitMaxtextLocation location;
} QuoitMaxtextFileSetting;

/* Combines the settings of files (of QuoitMaxtextFileSetting; later ones override earlier ones) with the words of
 * MaxText's command line, which override all files. Reports errors to @report. */
QuoitMaxtextSettings *quoit_maxtext_settings_new (const GArray *file_settings, const GPtrArray *words,
                                                  QuoitMaxtextReport *report);
void quoit_maxtext_settings_free (QuoitMaxtextSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextSettings, quoit_maxtext_settings_free)

/* Returns the text of a setting, or NULL if it was not given. */
const char *quoit_maxtext_settings_find (const QuoitMaxtextSettings *settings, const char *key);
/* Return the value of a setting, or @default_value if it was not given. If it has another type, they report that and
 * return @default_value. */
int64_t quoit_maxtext_settings_integer (QuoitMaxtextSettings *settings, const char *key, int64_t default_value);
double quoit_maxtext_settings_number (QuoitMaxtextSettings *settings, const char *key, double default_value);
gboolean quoit_maxtext_settings_flag (QuoitMaxtextSettings *settings, const char *key, gboolean default_value);

/* --- a job --- */

enum { QUOIT_MAXTEXT_MOST_SLICES = 1000000 };

struct _QuoitMaxtextJob {
  GArray *file_settings; /* of QuoitMaxtextFileSetting, file by file */
  GPtrArray *words;
  QuoitSliceFacts slice; /* generation NONE: not stated */
  uint32_t n_slices;
};

/* The job that is being checked, its settings and the report so far. */
typedef struct {
  QuoitMaxtextSettings *settings;
  QuoitMaxtextReport *report;
  QuoitSliceFacts slice;
  int64_t n_slices;  /* the actual number of slices */
  int64_t n_devices; /* of a slice */
  QuoitShape box;    /* the chips in use: the whole slice, or the box that a single controller uses */
} QuoitMaxtextCheck;

/* Checks a job. INVALID if the job does not determine its slices. */
QuoitMaxtextReport *quoit_maxtext_check_job (const QuoitMaxtextJob *job, GError **error);
/* Checks the number of slices in the settings, and returns the actual number. */
int64_t quoit_maxtext_check_slices (QuoitMaxtextCheck *check);
/* Writes the filled axes of the mesh into the report. FALSE, with a finding, if they cannot be filled. */
gboolean quoit_maxtext_check_axes (QuoitMaxtextCheck *check, int64_t n_slices);
/* Checks the batch. @is_filled: the axes of the report are filled. */
void quoit_maxtext_check_batch (QuoitMaxtextCheck *check, gboolean is_filled);
/* Estimates the memory of a device, and reports a job that needs more than it has. The axes must be filled. */
void quoit_maxtext_check_memory (QuoitMaxtextCheck *check);
/* Checks the job's ScalingConfig of Ray Train against its settings. Adds a finding for each contradiction. */
void quoit_maxtext_check_scaling (QuoitMaxtextReport *report, const QuoitRayScaling *scaling);
