/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_REQUEST_H
#define QUOIT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRequest:
 *
 * What is wanted: a number of whole slices of one accelerator and topology, or bundles of resources, all or none. Made
 * with quoit_request_new(), filled with the setters, good for any number of calls; a call keeps nothing of it. Not to
 * be changed by one thread while another uses it.
 *
 * A setter that fails leaves the request as it was.
 *
 * Since: 0.1
 */
typedef struct _QuoitRequest QuoitRequest;

/**
 * QuoitStrategy:
 *
 * How the bundles of a placement group are spread over nodes: Ray's four strategies, with Ray's numbers.
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
 * The algorithm that places bundles.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_POLICY_BEST = 0, /* quoit: a placement whenever there is one */
  QUOIT_POLICY_RAY = 1   /* what Ray 2.60's control plane answers */
} QuoitPolicy;

/**
 * quoit_request_new:
 * @name: of the group that is to be made: 1 to 253 bytes of printable UTF-8 without '@' or '/'
 *
 * An empty request; accelerator, topology and number of slices must be set before it is used, or bundles added
 * (quoit/request.h).
 * The name is checked when the request is used: %QUOIT_ERROR_INVALID then.
 *
 * Returns: (transfer full): the request; quoit_request_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRequest *quoit_request_new (const char *name);

/**
 * quoit_request_copy:
 * @request: the request
 * @name: of the group that is to be made of the copy, as in quoit_request_new()
 *
 * All that @request has, key and owner included, under another name. Copying a request costs less than filling another
 * one. The two are independent.
 *
 * Returns: (transfer full): the copy; quoit_request_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRequest *quoit_request_copy (const QuoitRequest *request, const char *name);

/**
 * quoit_request_free:
 * @request: (nullable): the request
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_free (QuoitRequest *request);

/**
 * quoit_request_set_accelerator:
 * @request: the request
 * @accelerator: a generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x"
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for a name that is no generation; the message lists those there are.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_accelerator (QuoitRequest *request, const char *accelerator, GError **error);

/**
 * quoit_request_set_topology:
 * @request: the request
 * @topology: shape of each slice in chips, x first: "4x4", "2x2x4"
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for text that is no topology; the message has the byte. Whether the generation has
 * that topology is checked when the request is used, since the two may be set in any order.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_topology (QuoitRequest *request, const char *topology, GError **error);

/**
 * quoit_request_set_slices:
 * @request: the request
 * @n_slices: 1 to 1,000,000
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for another number.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_slices (QuoitRequest *request, int64_t n_slices, GError **error);

/**
 * quoit_request_set_slices_between:
 * @request: the request
 * @least: how few will do: 1 or more
 * @most: how many are wanted: @least to 1,000,000
 * @error: (out) (optional): set on failure
 *
 * For elastic jobs: as many of @most as are free, or none if there are fewer than @least. quoit_ledger_resize()
 * moves the group between the two later. Fails with %QUOIT_ERROR_INVALID for other numbers.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_slices_between (QuoitRequest *request, int64_t least, int64_t most, GError **error);

/**
 * quoit_request_set_lease_ms:
 * @request: the request
 * @lease_ms: how long a group that quoit_ledger_reserve() makes lives unless it is renewed, from 1 ms
 * @error: (out) (optional): set on failure
 *
 * Without it a reserved group stays until it is released. Not part of what makes two requests the same. Fails with
 * %QUOIT_ERROR_INVALID for less than 1 ms; a lease that ends beyond the year 2199 is refused when it is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_lease_ms (QuoitRequest *request, int64_t lease_ms, GError **error);

/**
 * quoit_request_set_tpu_per_bundle:
 * @request: the request
 * @amount: decimal text: "1" for a bundle a chip, "0.5" for two of them
 * @error: (out) (optional): set on failure
 *
 * For jobs with several processes a host, as PyTorch/XLA: each host of the slices is taken as bundles of that much TPU.
 * All chips are taken; what else a host has, CPUs among it, is left for other groups. Without it each host is taken
 * whole. `TPU` counts devices where the cluster has a factor per chip.
 *
 * Fails with %QUOIT_ERROR_INVALID for what is no amount above 0. An amount that does not divide the TPU of a host, or
 * of a chip, is %QUOIT_ERROR_INVALID when it is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_tpu_per_bundle (QuoitRequest *request, const char *amount, GError **error);

/**
 * quoit_request_set_chips_per_host:
 * @request: the request
 * @n_chips: chips of each host: 1, 2, 4 or 8; 0 is Ray's default for the topology: all chips of a v5e or v6e 1x1, 2x2,
 * 2x4, else 4
 * @error: (out) (optional): set on failure
 *
 * A v6e 2x4 exists twice: as one host of 8 chips and as two of 4. Fails with %QUOIT_ERROR_INVALID for another number.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_chips_per_host (QuoitRequest *request, int64_t n_chips, GError **error);

/**
 * quoit_request_set_key:
 * @request: the request
 * @key: (nullable): the request key; text as of a group name
 *
 * With a key a retry is safe: a second request with the key returns the group that the first one made, also after it
 * has been released, and never reserves again. %QUOIT_ERROR_CONFLICT when the key was used for another request: name,
 * owner, accelerator, topology, slices, chips a host, or bundles in their order, strategy, policy, topology label and
 * soft target, and pool, zone, selectors, named and excluded slices are compared; the clock is not.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_key (QuoitRequest *request, const char *key);

/**
 * quoit_request_set_owner:
 * @request: the request
 * @owner: (nullable): who will hold the group; text as of a group name
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_owner (QuoitRequest *request, const char *owner);

/**
 * quoit_request_set_pool:
 * @request: the request
 * @pool: (nullable): only slices or nodes of pools of that name; %QUOIT_ERROR_NOT_FOUND on use for an unknown name
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_pool (QuoitRequest *request, const char *pool);

/**
 * quoit_request_set_zone:
 * @request: the request
 * @zone: (nullable): only slices whose alive nodes all have that availability zone (label ray.io/availability-zone or
 *   topology.kubernetes.io/zone); for bundles, nodes that have it
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_zone (QuoitRequest *request, const char *zone);

/**
 * quoit_request_add_selector:
 * @request: the request
 * @key: a label key
 * @value: Ray's grammar: "v", "!v", "in(a,b)", "!in(a,b)"; nothing is trimmed
 * @error: (out) (optional): set on failure
 *
 * Only slices whose alive nodes all satisfy this and every other selector; for bundles, nodes that do. Fails with
 * %QUOIT_ERROR_INVALID for what Ray refuses. Modelled on Ray 2.60's label selectors.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_add_selector (QuoitRequest *request, const char *key, const char *value, GError **error);

/**
 * quoit_request_add_slice:
 * @request: the request
 * @slice: short or full name (source/pool/name); %QUOIT_ERROR_NOT_FOUND on use for an unknown name
 *
 * Only slices that are named so, or by another call; for bundles, nodes of those.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_add_slice (QuoitRequest *request, const char *slice);

/**
 * quoit_request_exclude_slice:
 * @request: the request
 * @slice: short or full name (source/pool/name); %QUOIT_ERROR_NOT_FOUND on use for an unknown name
 *
 * Never that slice, nor a node of it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_exclude_slice (QuoitRequest *request, const char *slice);

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
 * @strategy: how its bundles are spread; %QUOIT_STRATEGY_PACK unless it is set
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
 * All bundles go to nodes that have one value of that label in common, the same that Ray's topology_strategy={KEY:
 * "STRICT_PACK"} asks for; the strategy holds inside. With @n_values above 1 the bundles are shared out evenly and in
 * order over that many different values: with "ray.io/tpu-slice-name" and 2, the first half is in one slice and the
 * second half in another. Nodes without the label, or with an empty one, are left out.
 *
 * Fails with %QUOIT_ERROR_INVALID for what is no label key and for a number out of range. A number that does not divide
 * that of the bundles, and more than one value under policy `ray`, are %QUOIT_ERROR_INVALID when the request is used.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_topology_label (QuoitRequest *request, const char *key, int64_t n_values,
                                                 GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRequest, quoit_request_free)

G_END_DECLS

#endif
