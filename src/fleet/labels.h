/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that callers attach to groups: labels, which are key/value pairs, and the reason of a release. */
#pragma once

#include <glib.h>

typedef struct {
  const char *key, *value;
} QuoitLabel;

/* Databases contain texts up to these limits, so that a limit can only be raised. */
enum {
  QUOIT_MAX_LABELS = 64, /* of one group */
  QUOIT_MAX_LABEL_KEY_BYTES = 253,
  QUOIT_MAX_LABEL_VALUE_BYTES = 512,
  QUOIT_MAX_REASON_BYTES = 1024
};

/* Check one text. Fail with INVALID. @value NULL: only the key is checked. @what names the text in messages. */
gboolean quoit_label_check (const char *key, const char *value, GError **error);
gboolean quoit_short_text_check (const char *what, const char *text, gsize most, GError **error);
gboolean quoit_reason_check (const char *reason, GError **error);

/* Checks labels from a file: valid texts, sorted by key, each key once, and at most QUOIT_MAX_LABELS. Fails with
 * INVALID. */
gboolean quoit_labels_check (const QuoitLabel *labels, guint n, GError **error);
gboolean quoit_labels_equal (const QuoitLabel *a, guint n_a, const QuoitLabel *b, guint n_b);
/* Returns the value of the label, or NULL. */
const char *quoit_labels_find (const QuoitLabel *labels, guint n, const char *key);

/* Returns a list of QuoitLabel, sorted by key, that owns its texts and contains copies of @labels. */
GArray *quoit_labels_new (const QuoitLabel *labels, guint n);
/* Sets a label of such a list. @value NULL: removes the label, if the list has it. Fails with INVALID for a text that
 * is not valid, or if the list would have more than @most labels. */
gboolean quoit_labels_set (GArray *labels, const char *key, const char *value, guint most, GError **error);
