/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ray's labels and selectors, as Ray 2.60 reads and checks them. What was said of quoit/models/ray-tpu.h holds here
 * too: these functions accept what Ray accepts and refuse what it refuses, with QUOIT_ERROR_INVALID and a message of
 * their own.
 */
#ifndef QUOIT_RAY_LABELS_H
#define QUOIT_RAY_LABELS_H

#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayLabels:
 *
 * Keys with their values, in the order in which they were first set: the labels of a node, or a selector, whose values
 * say what is asked of the label: "v", "!v", "in(a,b)", "!in(a,b)".
 *
 * Since: 0.1
 */
typedef struct _QuoitRayLabels QuoitRayLabels;

/**
 * quoit_ray_labels_new:
 *
 * An empty list.
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
 * @key: a key, "ray.io/tpu-slice-name"; copied
 * @value: (nullable): its value; copied. %NULL is Python's None, which a selector may have
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
 * Returns: (transfer none) (nullable): the key, valid until @labels is freed; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_get_key (const QuoitRayLabels *labels, unsigned index);

/**
 * quoit_ray_labels_get_value:
 * @labels: a list
 * @index: 0 for the first
 *
 * Returns: (transfer none) (nullable): the value, valid until it is set again; %NULL for None, and behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_get_value (const QuoitRayLabels *labels, unsigned index);

/**
 * quoit_ray_labels_find:
 * @labels: a list
 * @key: a key
 *
 * Returns: (transfer none) (nullable): its value, valid until it is set again; %NULL where there is none
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_labels_find (const QuoitRayLabels *labels, const char *key);

/**
 * quoit_ray_labels_parse:
 * @text: what `ray start --labels` takes: "region=us-west4,market-type=spot"
 * @error: (out) (optional): set on failure
 *
 * Reads labels out of a command line. One pair of double quotes around all of it and blanks around keys and values do
 * not count; of a key that comes twice the last value counts.
 *
 * Fails with %QUOIT_ERROR_INVALID when a part between commas is no "KEY=VALUE", or when a key or the value that counts
 * is not what quoit_ray_label_check_key() and quoit_ray_label_check_value() accept.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_parse (const char *text, GError **error);

/**
 * quoit_ray_labels_parse_json:
 * @text: a JSON object: {"region": "us-west4"}
 * @length: its bytes
 * @error: (out) (optional): set on failure
 *
 * Reads labels out of JSON, in Ray's older way: keys may look as they like but may not begin with "ray.io/", values may
 * be any text; of a key that comes twice the last value counts.
 *
 * Fails with %QUOIT_ERROR_INVALID when it is not strict JSON, no object, or has a value that is no text, or such a key;
 * and, other than Ray, for text that C cannot hold: NUL, and half of a surrogate pair.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_parse_json (const char *text, size_t length, GError **error);

/**
 * quoit_ray_label_check_key:
 * @key: "ray.io/tpu-slice-name"
 * @error: (out) (optional): set on failure
 *
 * Whether Ray takes @key as the key of a label: [PREFIX/]NAME. A name is 1 to 63 letters, digits, '-', '_' and '.' of
 * ASCII with a letter or digit at both ends; a prefix is at most 253, names or nothing between its points.
 *
 * Fails with %QUOIT_ERROR_INVALID when it does not.
 *
 * Returns: 1 when it does, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_label_check_key (const char *key, GError **error);

/**
 * quoit_ray_label_check_value:
 * @value: "us-west4"
 * @error: (out) (optional): set on failure
 *
 * Whether Ray takes @value as the value of a label: nothing, or what the name of a key is made of.
 *
 * Fails with %QUOIT_ERROR_INVALID when it does not.
 *
 * Returns: 1 when it does, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_label_check_value (const char *value, GError **error);

/**
 * quoit_ray_selector_check:
 * @selector: (nullable): keys, with what is asked of each; %NULL asks nothing
 * @error: (out) (optional): set on failure
 *
 * Whether Ray takes @selector as a label_selector: each key as of a label, each value nothing, "v", "!v", or a list in
 * brackets with or without "in" before it. One blank may follow a comma.
 *
 * Fails with %QUOIT_ERROR_INVALID for the first that it does not take.
 *
 * Returns: 1 when it does, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_selector_check (const QuoitRayLabels *selector, GError **error);

/**
 * quoit_ray_selector_check_value:
 * @value: "!in(a,b)"
 * @error: (out) (optional): set on failure
 *
 * What quoit_ray_selector_check() checks of one value.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray refuses it.
 *
 * Returns: 1 when Ray takes it, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_selector_check_value (const char *value, GError **error);

/**
 * quoit_ray_selector_is_negated:
 * @value: of a selector, checked or not
 *
 * Whether @value asks that a label is none of quoit_ray_selector_dup_values(), or is missing.
 *
 * Returns: 1 when it begins with "!", else 0
 * Since: 0.1
 */
QUOIT_API int quoit_ray_selector_is_negated (const char *value);

/**
 * quoit_ray_selector_dup_values:
 * @value: of a selector, checked or not
 *
 * The values that Ray's scheduler reads out of @value, sorted by bytes, each once. It checks and strips nothing:
 * "in(a, b)" is "a" and " b", "(a,b)" is one value with brackets, "in()" none.
 *
 * Returns: (transfer full) (array zero-terminated=1): the values; g_strfreev() them
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_selector_dup_values (const char *value);

/**
 * quoit_ray_selector_holds:
 * @selector: keys, with what is asked of each; of a key without a value nothing is asked
 * @labels: of a node
 *
 * Whether Ray's scheduler finds that a node with @labels is what @selector asks for. Neither is checked.
 *
 * Returns: 1 when all of it holds, else 0
 * Since: 0.1
 */
QUOIT_API int quoit_ray_selector_holds (const QuoitRayLabels *selector, const QuoitRayLabels *labels);

/**
 * quoit_ray_fallback_check_json:
 * @text: a fallback_strategy as JSON: [{"label_selector": {"market-type": "spot"}}]
 * @length: its bytes
 * @error: (out) (optional): set on failure
 *
 * Whether Ray takes a list of selectors to try one after the other. Each element is an object with a "label_selector",
 * and nothing else; one that is null or empty asks nothing.
 *
 * Fails with %QUOIT_ERROR_INVALID for the first that it does not take, and for what is not strict JSON.
 *
 * Returns: 1 when it does, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_fallback_check_json (const char *text, size_t length, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayLabels, quoit_ray_labels_free)

G_END_DECLS

#endif
