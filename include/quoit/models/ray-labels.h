/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's labels and selectors, as Ray 2.60 reads and checks them. The rules of quoit/models/ray-tpu.h apply here too:
 * these functions accept what Ray accepts and refuse what Ray refuses, with QUOIT_ERROR_INVALID and their own
 * messages. */
#ifndef QUOIT_RAY_LABELS_H
#define QUOIT_RAY_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayLabels:
 *
 * Keys with their values, in the order in which they were first set. It represents the labels of a node, or a selector.
 * The values of a selector are conditions: "v", "!v", "in(a,b)", "!in(a,b)". Mutable: use it in one thread at a time
 * while it changes.
 */
typedef struct _QuoitRayLabels QuoitRayLabels;

/**
 * quoit_ray_labels_new:
 *
 * Creates an empty list.
 *
 * Returns: (transfer full): the list; quoit_ray_labels_free() it
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_new (void);

/**
 * quoit_ray_labels_free:
 * @labels: (nullable) (transfer full): a list
 *
 * Frees @labels and the texts borrowed from it.
 */
QUOIT_API void quoit_ray_labels_free (QuoitRayLabels *labels);

/**
 * quoit_ray_labels_set:
 * @key: a key, "ray.io/tpu-slice-name"; copied
 * @value: (nullable): its value; copied. %NULL is Python's None, which a selector can have
 *
 * Sets @key to @value. An existing key keeps its position; a new key is added at the end. Nothing is checked.
 */
QUOIT_API void quoit_ray_labels_set (QuoitRayLabels *labels, const char *key, const char *value);

/**
 * quoit_ray_labels_get_key:
 * @index: 0 for the first
 *
 * Returns: (transfer none) (nullable): the key, valid until @labels is freed; %NULL after the last
 */
QUOIT_API const char *quoit_ray_labels_get_key (const QuoitRayLabels *labels, uint32_t index);

/**
 * quoit_ray_labels_get_value:
 * @index: 0 for the first
 *
 * Returns: (transfer none) (nullable): the value, valid until it is set again; %NULL for None, and after the last
 */
QUOIT_API const char *quoit_ray_labels_get_value (const QuoitRayLabels *labels, uint32_t index);

/**
 * quoit_ray_labels_find:
 * @key: a key
 *
 * Returns: (transfer none) (nullable): its value, valid until it is set again; %NULL if there is none
 */
QUOIT_API const char *quoit_ray_labels_find (const QuoitRayLabels *labels, const char *key);

/**
 * quoit_ray_labels_parse:
 * @text: the argument of `ray start --labels`: "region=us-west4,market-type=spot"
 *
 * Reads labels from a command line. One pair of double quotes around the text and blanks around keys and values are
 * ignored. If a key is repeated, its last value is used.
 *
 * Fails with %QUOIT_ERROR_INVALID when a part between commas is not "KEY=VALUE", or when quoit_ray_label_check_key()
 * refuses a key or quoit_ray_label_check_value() refuses a used value.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() it. %NULL on failure
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_parse (const char *text, GError **error);

/**
 * quoit_ray_labels_parse_json:
 * @text: a JSON object: {"region": "us-west4"}
 * @length: its bytes
 *
 * Reads labels from JSON, in Ray's older format: keys can be any text that does not begin with "ray.io/", values can be
 * any text. If a key is repeated, its last value is used.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not strict JSON, is not an object, or has a refused key or a value that
 * is not text. Unlike Ray, it also refuses text that C cannot hold: NUL, and half of a surrogate pair.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() it. %NULL on failure
 */
QUOIT_API QuoitRayLabels *quoit_ray_labels_parse_json (const char *text, size_t length, GError **error);

/**
 * quoit_ray_label_check_key:
 * @key: "ray.io/tpu-slice-name"
 *
 * Checks @key like Ray checks the key of a label: [PREFIX/]NAME. A name is 1 to 63 ASCII letters, digits, '-', '_' and
 * '.', with a letter or digit at both ends. A prefix has at most 253 characters; between its dots are names or nothing.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray refuses it.
 *
 * Returns: true if Ray accepts it, false on failure
 */
QUOIT_API bool quoit_ray_label_check_key (const char *key, GError **error);

/**
 * quoit_ray_label_check_value:
 * @value: "us-west4"
 *
 * Checks @value like Ray checks the value of a label: it is empty, or has the form of a key's name.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray refuses it.
 *
 * Returns: true if Ray accepts it, false on failure
 */
QUOIT_API bool quoit_ray_label_check_value (const char *value, GError **error);

/**
 * quoit_ray_selector_check:
 * @selector: (nullable): keys with their conditions; %NULL: no conditions
 *
 * Checks @selector like Ray checks a label_selector: each key like the key of a label, each value empty, "v", "!v", or
 * a list in parentheses with or without "in" before it. One blank can follow a comma.
 *
 * Fails with %QUOIT_ERROR_INVALID for the first key or value that Ray refuses.
 *
 * Returns: true if Ray accepts it, false on failure
 */
QUOIT_API bool quoit_ray_selector_check (const QuoitRayLabels *selector, GError **error);

/**
 * quoit_ray_selector_check_value:
 * @value: "!in(a,b)"
 *
 * Checks one value like quoit_ray_selector_check().
 *
 * Returns: true if Ray accepts it, false on failure
 */
QUOIT_API bool quoit_ray_selector_check_value (const char *value, GError **error);

/**
 * quoit_ray_selector_is_negated:
 * @value: value of a selector, checked or not
 *
 * Returns whether @value is negated: then the label must be missing or have none of quoit_ray_selector_dup_values().
 *
 * Returns: true if it begins with "!", else false
 */
QUOIT_API bool quoit_ray_selector_is_negated (const char *value);

/**
 * quoit_ray_selector_dup_values:
 * @value: value of a selector, checked or not
 *
 * Returns the values that Ray's scheduler reads from @value, sorted by bytes, without duplicates. It checks and strips
 * nothing: "in(a, b)" is "a" and " b", "(a,b)" is one value with parentheses, "in()" has no values.
 *
 * Returns: (transfer full) (array zero-terminated=1): the values; g_strfreev() them
 */
QUOIT_API char **quoit_ray_selector_dup_values (const char *value);

/**
 * quoit_ray_selector_holds:
 * @selector: keys with their conditions; a key without a value has no condition
 * @labels: labels of a node
 *
 * Evaluates @selector like Ray's scheduler for a node with @labels. Neither argument is checked.
 *
 * Returns: true if all conditions hold, else false
 */
QUOIT_API bool quoit_ray_selector_holds (const QuoitRayLabels *selector, const QuoitRayLabels *labels);

/**
 * quoit_ray_fallback_check_json:
 * @text: a fallback_strategy as JSON: [{"label_selector": {"market-type": "spot"}}]
 * @length: its bytes
 *
 * Checks a fallback_strategy like Ray: a list of selectors to try one after the other. Each element is an object with
 * only a "label_selector"; one that is null or empty has no conditions.
 *
 * Fails with %QUOIT_ERROR_INVALID for the first element that Ray refuses, and for text that is not strict JSON.
 *
 * Returns: true if Ray accepts it, false on failure
 */
QUOIT_API bool quoit_ray_fallback_check_json (const char *text, size_t length, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayLabels, quoit_ray_labels_free)

G_END_DECLS

#endif
