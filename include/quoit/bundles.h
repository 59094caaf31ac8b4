/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_BUNDLES_H
#define QUOIT_BUNDLES_H

#include <quoit/request.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitStrategy:
 *
 * How the bundles of a placement group stand to each other: Ray's four strategies, with Ray's numbers.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_STRATEGY_PACK = 0,         /* on few nodes */
  QUOIT_STRATEGY_SPREAD = 1,       /* on many nodes */
  QUOIT_STRATEGY_STRICT_PACK = 2,  /* all on one node */
  QUOIT_STRATEGY_STRICT_SPREAD = 3 /* each on another node */
} QuoitStrategy;

/**
 * QuoitPolicy:
 *
 * Who decides where bundles go.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_POLICY_BEST = 0, /* quoit: a placement whenever there is one */
  QUOIT_POLICY_RAY = 1   /* what Ray 2.60's control plane answers */
} QuoitPolicy;

/**
 * quoit_request_add_bundle:
 * @request: the request
 * @amounts: what the bundle takes of its node: "TPU=4,CPU=8", in any order
 * @error: (out) (optional): set on failure
 *
 * Asks for one more bundle: an amount of resources that is placed on one node. A request asks for slices or for
 * bundles, never both. Bundles are numbered from 0 in the order in which they were added, and so are those of the
 * group.
 *
 * A resource is named as Ray names it: CPU, GPU, TPU, memory (in bytes), object_store_memory, a custom one, the head of
 * a slice ("TPU-v6e-16-head") or a slice's name. A name with a ',', '=' or '"' in it stands in double quotes, with C's
 * escapes. An amount is decimal text,
 * counted as Ray counts what it is given, on nodes too: 0.57 is 0.5699. Of TPU a bundle has whole chips, and what is
 * left of the amount is of one other chip of the same node: 1.5 is one chip and half of another.
 *
 * Fails with %QUOIT_ERROR_INVALID for what is no such text, for an amount that is 0, above 900,000,000,000,000 or finer
 * than a ten-thousandth, for a resource that is named twice, has an empty name, or is Ray's own ("bundle", what a
 * placement group brings, as "CPU_group_<id>"), and for more than 10,000 bundles or 256 different resources.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_add_bundle (QuoitRequest *request, const char *amounts, GError **error);

/**
 * quoit_request_add_bundles:
 * @request: the request
 * @amounts: what each of them takes of its node, as of quoit_request_add_bundle()
 * @n_bundles: how many: 1 to 10,000 in all
 * @error: (out) (optional): set on failure
 *
 * The same for several equal bundles. Fails as quoit_request_add_bundle() does.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_add_bundles (QuoitRequest *request, const char *amounts, int64_t n_bundles,
                                          GError **error);

/**
 * quoit_request_read_bundles:
 * @request: the request
 * @text: JSON, or YAML of one document
 * @length: bytes of @text
 * @error: (out) (optional): set on failure
 *
 * Adds the bundles of a file as Ray's placement_group() is given them: a list of maps, [{"CPU": 1, "TPU": 4}]; or a map
 * with its arguments bundles, strategy, bundle_label_selector and topology_strategy, each of which is then set as by
 * its own function. Amounts are what Ray 2.60 counts of them: 0.57 is 0.5699, and what is 0 is not asked for.
 *
 * Fails with %QUOIT_ERROR_INVALID, with the place in the file, for what has another form, and as the functions that add
 * and set one thing do; nothing of the file is added then.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_read_bundles (QuoitRequest *request, const char *text, size_t length, GError **error);

/**
 * quoit_request_select_bundle:
 * @request: the request
 * @bundle: its number
 * @key: a label key
 * @value: Ray's grammar: "v", "!v", "in(a,b)", "!in(a,b)"; nothing is trimmed
 * @error: (out) (optional): set on failure
 *
 * Only a node that satisfies this and every other selector of that bundle, and those of the request. Fails with
 * %QUOIT_ERROR_INVALID for what Ray refuses, for the number of a bundle that was not added, and beyond 1,000 selectors
 * of a bundle or 1,000,000 of all.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_select_bundle (QuoitRequest *request, int64_t bundle, const char *key, const char *value,
                                            GError **error);

/**
 * quoit_request_set_strategy:
 * @request: the request
 * @strategy: how its bundles stand to each other; %QUOIT_STRATEGY_PACK unless it is set
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for a number that is no strategy. A strategy without bundles is %QUOIT_ERROR_INVALID
 * when the request is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_strategy (QuoitRequest *request, QuoitStrategy strategy, GError **error);

/**
 * quoit_request_set_policy:
 * @request: the request
 * @policy: who decides; %QUOIT_POLICY_BEST unless it is set
 * @error: (out) (optional): set on failure
 *
 * Under %QUOIT_POLICY_RAY bundles go where Ray 2.60's control plane would put them, and a request is refused where Ray
 * answers FAILED or INFEASIBLE, though a placement may exist. Where Ray's choice varies from call to call, the first
 * node in natural order is taken. Chips are shared out as a raylet does: what its control plane grants, and no raylet
 * could, is refused.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number that is no policy. Policy `ray` without bundles is %QUOIT_ERROR_INVALID
 * when the request is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_policy (QuoitRequest *request, QuoitPolicy policy, GError **error);

/**
 * quoit_request_set_topology_label:
 * @request: the request
 * @key: (nullable): a label key; %NULL: none
 * @n_values: how many values of it share out the bundles: 1 or more
 * @error: (out) (optional): set on failure
 *
 * All bundles go to nodes that have one value of that label in common, the same that
 * Ray's topology_strategy={KEY: "STRICT_PACK"} asks for; the strategy holds inside. With @n_values above 1 the bundles
 * are shared out evenly and in order over that many different values: with "ray.io/tpu-slice-name" and 2, the first
 * half stands in one slice and the second half in another. Nodes without the label, or with an empty one, are left out.
 *
 * Fails with %QUOIT_ERROR_INVALID for what is no label key and for a number out of range. A number that does not divide
 * that of the bundles, and more than one value under policy `ray`, are %QUOIT_ERROR_INVALID when the request is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_topology_label (QuoitRequest *request, const char *key, int64_t n_values,
                                                 GError **error);

/**
 * quoit_request_set_soft_target:
 * @request: the request
 * @node: (nullable): short or full name; %QUOIT_ERROR_NOT_FOUND at use when there is none
 *
 * The node that %QUOIT_STRATEGY_STRICT_PACK takes if it has room; another one else. With another strategy
 * %QUOIT_ERROR_INVALID when the request is used.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_soft_target (QuoitRequest *request, const char *node);

/* cdef-end */

G_END_DECLS

#endif
