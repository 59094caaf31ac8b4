/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels as Ray has them: what a node says of itself, and what a bundle asks of nodes.
 */
#ifndef QUOIT_RAY_LABELS_H
#define QUOIT_RAY_LABELS_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayLabels:
 *
 * Keys with a text each, in the order in which they were first set: the labels of a node, or what a bundle selects
 * nodes by.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayLabels QuoitRayLabels;

/**
 * quoit_ray_labels_new:
 *
 * An empty list of labels.
 *
 * Returns: (transfer full): the list; quoit_ray_labels_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_new (void);

/**
 * quoit_ray_labels_free:
 * @labels: (nullable) (transfer full): a list
 *
 * Frees @labels and the texts that were borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_labels_free (QuoitRayLabels *labels);

/**
 * quoit_ray_labels_set:
 * @labels: a list
 * @key: "ray.io/tpu-slice-name"; copied
 * @value: (nullable): its text; copied. %NULL is Python's None
 *
 * Sets @key to @value: in its place where it is there, else behind the others. Nothing is checked.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_labels_set (QuoitRayLabels *labels, const char *key, const char *value);

/**
 * quoit_ray_labels_get_key:
 * @labels: a list
 * @index: 0 for the first
 *
 * The key of a label, by its place.
 *
 * Returns: (transfer none) (nullable): the key, valid until @labels is changed or freed; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_get_key (const QuoitRayLabels *labels, unsigned index);

/**
 * quoit_ray_labels_get_value:
 * @labels: a list
 * @index: 0 for the first
 *
 * The text of a label, by its place.
 *
 * Returns: (transfer none) (nullable): the text, valid until @labels is changed or freed; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_get_value (const QuoitRayLabels *labels, unsigned index);

/**
 * quoit_ray_labels_find:
 * @labels: a list
 * @key: of a label
 *
 * The text of the label that is keyed @key.
 *
 * Returns: (transfer none) (nullable): the text, valid until @labels is changed or freed; %NULL where there is none
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_find (const QuoitRayLabels *labels, const char *key);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayLabels, quoit_ray_labels_free)

G_END_DECLS

#endif
