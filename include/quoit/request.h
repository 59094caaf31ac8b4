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
 * A request for a group: a number of whole slices of one accelerator and topology, or bundles of resources. Create it
 * with quoit_request_new(), fill it with the setters, and use it for any number of calls, which do not keep it. No
 * thread may change a request while another one uses it.
 *
 * Setters that can fail check their own arguments. A setter that fails leaves the request unchanged. Combinations, and
 * names of pools, slices and nodes, are checked when the request is used.
 *
 * Amounts of bundles. The functions that take amounts as text read "RESOURCE=AMOUNT,RESOURCE=AMOUNT...", such as
 * "TPU=4,CPU=8", in any order:
 *
 * - RESOURCE is the name that Ray uses: CPU, GPU, TPU, memory (in bytes), object_store_memory, a custom resource, a
 *   head resource such as "TPU-v6e-16-head", or the name of a slice. It has 1 to 253 bytes of printable UTF-8. If it
 *   contains a comma, an equals sign or a double quote, write it in double quotes with the escapes of C.
 * - AMOUNT is a decimal number above 0 and up to 900,000,000,000,000, with up to four decimal places. It is converted
 *   like in Ray: 0.57 counts as 0.5699.
 * - An amount of TPU is a number of whole chips of the node, and the fraction is part of one more chip: 1.5 is one chip
 *   and half of another one.
 * - A resource can occur once in a bundle. The resources of placement groups ("bundle", "CPU_group_<id>") are refused.
 */
typedef struct _QuoitRequest QuoitRequest;

/**
 * QuoitStrategy:
 *
 * How the bundles of a group are distributed over nodes: Ray's four strategies, with Ray's numbers.
 */
typedef enum {
  QUOIT_STRATEGY_PACK = 0,         /* on few nodes */
  QUOIT_STRATEGY_SPREAD = 1,       /* on many nodes */
  QUOIT_STRATEGY_STRICT_PACK = 2,  /* all on one node */
  QUOIT_STRATEGY_STRICT_SPREAD = 3 /* each on a different node */
} QuoitStrategy;

/**
 * QuoitPolicy:
 *
 * The algorithm that places bundles.
 */
typedef enum {
  QUOIT_POLICY_BEST = 0, /* finds a placement whenever one exists */
  QUOIT_POLICY_RAY = 1   /* places or refuses as Ray 2.60's control plane does */
} QuoitPolicy;

/**
 * QuoitDomain:
 *
 * A kind of place that several slices share.
 */
typedef enum {
  QUOIT_DOMAIN_NONE = 0,
  QUOIT_DOMAIN_POOL = 1, /* a pool of one source */
  QUOIT_DOMAIN_ZONE = 2  /* an availability zone; see quoit_request_set_zone() */
} QuoitDomain;

/**
 * QuoitCut:
 *
 * How parts may be cut from slices. A part is a box of whole hosts.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_CUT_WHOLE = 0,   /* only whole slices */
  QUOIT_CUT_ALIGNED = 1, /* at multiples of the part's sides along each axis, and not turned; in a slice whose
                          * sides are equal, the part lies like Ray's sub-slice of that shape */
  QUOIT_CUT_ANY = 2,     /* from any host on, and turned if the hosts allow it */
  QUOIT_CUT_ANY_OR_WRAPPED
  = 3,                    /* also across wraparound links; no public source says that libtpu accepts such a part */
  QUOIT_CUT_PARTITION = 4 /* GKE's partitions of a cube: parts of 2x2x1, 2x2x2, 2x2x4, 2x4x4 or 4x4x4 at
                           * multiples of their sides, not turned; tpu7x can be cut in no other way */
} QuoitCut;

/**
 * QuoitCubes:
 *
 * Which cubes may be joined into one slice. A cube is a slice of 4x4x4 chips on 16 hosts, whose nodes have the label
 * cloud.google.com/gce-topology-block. The cubes of a joined slice are in one block, intact and wholly free.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_CUBES_NONE = 0,        /* slices are not joined */
  QUOIT_CUBES_ANY = 1,         /* any cubes of the block, as optical circuit switches can join them */
  QUOIT_CUBES_ANY_TWISTED = 2, /* also, the slice is wired as a twisted torus */
  QUOIT_CUBES_ADJACENT = 3     /* cubes at adjacent positions of the block, for static cabling; turned if that is
                                * also a topology of the generation. Nodes state positions with the label
                                * quoit/cube-position=X-Y-Z */
} QuoitCubes;

/**
 * QuoitPlacePolicy:
 *
 * Which places parts get, or which blocks the cubes of joined slices are from. A policy never changes whether a request
 * fits.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PLACE_BEST = 0,  /* the place that costs later requests least, now and until the group ends */
  QUOIT_PLACE_FIRST = 1, /* the first slice in natural order with a place, and its lowest worker; the first block */
  QUOIT_PLACE_PACK = 2,  /* the slice with the fewest free hosts that has a place; the block with the fewest cubes */
  QUOIT_PLACE_SPREAD = 3 /* the slice with the most free hosts, the block with the most free cubes */
} QuoitPlacePolicy;

/**
 * quoit_request_new:
 * @name: the name of the group: 1 to 253 bytes of printable UTF-8 without '@' or '/'
 *
 * Creates an empty request. Before you use it, set accelerator, topology and number of slices, or add bundles.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other name.
 *
 * Returns: (transfer full): the request; quoit_request_free() it
 */
QUOIT_API QuoitRequest *quoit_request_new (const char *name, GError **error);

/**
 * quoit_request_copy:
 * @name: the name of the copy's group, as for quoit_request_new()
 *
 * Copies everything except the name, including key and owner. A copy costs less than filling a new request.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other name.
 *
 * Returns: (transfer full): the copy, independent of @request; quoit_request_free() it
 */
QUOIT_API QuoitRequest *quoit_request_copy (const QuoitRequest *request, const char *name, GError **error);

/**
 * quoit_request_free:
 * @request: (nullable): the request
 */
QUOIT_API void quoit_request_free (QuoitRequest *request);

/**
 * quoit_request_set_accelerator:
 * @accelerator: the TPU generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x"
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown generation; the message lists the known ones.
 */
QUOIT_API bool quoit_request_set_accelerator (QuoitRequest *request, const char *accelerator, GError **error);

/**
 * quoit_request_set_topology:
 * @topology: the shape of each slice in chips, x first: "4x4", "2x2x4"
 *
 * Fails with %QUOIT_ERROR_INVALID if the text is not a topology; the message has the position. Whether the generation
 * has this topology is checked on use.
 */
QUOIT_API bool quoit_request_set_topology (QuoitRequest *request, const char *topology, GError **error);

/**
 * quoit_request_set_slices:
 * @n_slices: 1 to 1,000,000
 *
 * Requests a fixed number of slices.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other number.
 */
QUOIT_API bool quoit_request_set_slices (QuoitRequest *request, int64_t n_slices, GError **error);

/**
 * quoit_request_set_slice_range:
 * @least: the smallest sufficient number of slices, from 1
 * @most: the wanted number of slices, @least to 1,000,000
 *
 * Requests slices for an elastic job: as many as are free, up to @most, or none if fewer than @least are free.
 * quoit_ledger_resize() can later change the number within this range.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other numbers.
 */
QUOIT_API bool quoit_request_set_slice_range (QuoitRequest *request, int64_t least, int64_t most, GError **error);

/**
 * quoit_request_set_lease_ms:
 * @lease_ms: how long a group that quoit_ledger_reserve() creates lives unless it is renewed, from 1 ms
 *
 * Sets the lease. Without a lease, a reserved group lives until it is released. Only a request whose lease ends before
 * a reservation ahead or a window begins can use its slices until then. Requests with different leases can
 * still be the same request for quoit_request_set_key(). A lease that ends after the year 2199 is refused on use.
 *
 * Fails with %QUOIT_ERROR_INVALID for less than 1 ms.
 */
QUOIT_API bool quoit_request_set_lease_ms (QuoitRequest *request, int64_t lease_ms, GError **error);

/**
 * quoit_request_set_expected_runtime_ms:
 * @runtime_ms: how long the job is expected to run, from 1 ms
 *
 * Sets an estimate. The group gets the expected end that follows from it, which ends nothing: only a lease ends a
 * group. An estimate beyond the lease counts where something lies ahead (quoit_ledger_reserve_at()).
 * quoit_snapshot_find_start() uses it, and quoit_ledger_set_expected_end() can change it later. Requests with
 * different estimates can still be the same request for quoit_request_set_key(). One that ends after the year 2199 is
 * refused on use.
 *
 * Fails with %QUOIT_ERROR_INVALID for less than 1 ms.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_expected_runtime_ms (QuoitRequest *request, int64_t runtime_ms, GError **error);

/**
 * quoit_request_set_priority:
 * @priority: any number; a greater one is more important, and the default is 0
 *
 * Sets the priority of the group. quoit itself prefers no group; schedulers that share the ledger read the priority.
 * Requests with different priorities can still be the same request for quoit_request_set_key().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_priority (QuoitRequest *request, int32_t priority);

/**
 * quoit_request_set_label:
 * @key: 1 to 253 bytes of UTF-8 without control characters and without '='
 * @value: (nullable): 1 to 512 bytes of UTF-8 without control characters; %NULL: removes the label, if it is set
 *
 * Sets a label of the group, or replaces its value. Labels are data of the caller: quoit only keeps them.
 * quoit_ledger_set_labels() can change them later. Requests with different labels can still be the same request for
 * quoit_request_set_key(). (Labels of nodes are something else: see quoit_request_add_selector().)
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text, and for the 65th label of a request.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_label (QuoitRequest *request, const char *key, const char *value, GError **error);

/**
 * quoit_request_set_tpu_per_bundle:
 * @amount: decimal text: "1" for one bundle per chip, "0.5" for two
 *
 * Divides each host of the slices into bundles of this amount of TPU, for jobs with several processes per host, such as
 * PyTorch/XLA. The group gets all chips; the other resources of the hosts, such as CPUs, stay free for other groups. If
 * this is not set, the group gets whole hosts. If the cluster counts several devices per chip as TPU, @amount counts
 * devices.
 *
 * Fails with %QUOIT_ERROR_INVALID if the text is not an amount above 0. On use, an amount that does not divide the TPU
 * of a host, or of a chip, is refused.
 */
QUOIT_API bool quoit_request_set_tpu_per_bundle (QuoitRequest *request, const char *amount, GError **error);

/**
 * quoit_request_set_chips_per_host:
 * @n_chips: the number of chips of each host: 1, 2, 4 or 8; 0: Ray's default, which is all chips for 1x1, 2x2 and 2x4
 *   of v5e and v6e, else 4
 *
 * Sets the number of chips per host. Some topologies exist with different hosts: a v6e 2x4 is one host with 8 chips, or
 * two hosts with 4.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other number.
 */
QUOIT_API bool quoit_request_set_chips_per_host (QuoitRequest *request, int64_t n_chips, GError **error);

/**
 * quoit_request_set_key:
 * @key: (nullable): the request key; the same characters as in group names; %NULL: none
 *
 * Makes a retry safe: a second request with the same key returns the group of the first one, even if it was released
 * since, and never reserves again.
 *
 * On use, %QUOIT_ERROR_CONFLICT means that the key belongs to a different request. Two requests are the same if these
 * parts are equal: name, owner, accelerator, topology, slices, chips per host, TPU per bundle, bundles, strategy,
 * policy, topology label, soft target, pool, zone, selectors, named and excluded slices, excluded nodes, domain to keep
 * to, spread, near group, and these parts of all alternatives.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text.
 */
QUOIT_API bool quoit_request_set_key (QuoitRequest *request, const char *key, GError **error);

/**
 * quoit_request_set_owner:
 * @owner: (nullable): the owner of the group; the same characters as in group names; %NULL: none
 *
 * Sets the owner. A call that uses the request fails with %QUOIT_ERROR_EXPIRED if the lease of the owner has ended.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text.
 */
QUOIT_API bool quoit_request_set_owner (QuoitRequest *request, const char *owner, GError **error);

/**
 * quoit_request_set_pool:
 * @pool: (nullable): the name of a pool
 *
 * Restricts the slices of the request, or the nodes of its bundles, to pools with that name. A call that uses the
 * request fails with %QUOIT_ERROR_NOT_FOUND if the name is unknown.
 */
QUOIT_API void quoit_request_set_pool (QuoitRequest *request, const char *pool);

/**
 * quoit_request_set_zone:
 * @zone: (nullable): an availability zone
 *
 * Restricts the request to one zone: to slices whose alive nodes are all in the zone, or for bundles to nodes in it.
 * The zone of a node is its label ray.io/availability-zone or topology.kubernetes.io/zone.
 */
QUOIT_API void quoit_request_set_zone (QuoitRequest *request, const char *zone);

/**
 * quoit_request_add_selector:
 * @key: a label key
 * @value: a condition in Ray's syntax: "v", "!v", "in(a,b)", "!in(a,b)"; blanks are not removed
 *
 * Restricts the request to slices whose alive nodes all satisfy this and all other selectors. Bundles are restricted to
 * nodes that satisfy them.
 *
 * Fails with %QUOIT_ERROR_INVALID if Ray 2.60 refuses the key or the condition.
 */
QUOIT_API bool quoit_request_add_selector (QuoitRequest *request, const char *key, const char *value, GError **error);

/**
 * quoit_request_add_slice:
 * @slice: short or full name (source/pool/name)
 *
 * Restricts the request to this slice and all others that were added, or for bundles to their nodes. A call that uses
 * the request fails with %QUOIT_ERROR_NOT_FOUND if the name is unknown.
 */
QUOIT_API void quoit_request_add_slice (QuoitRequest *request, const char *slice);

/**
 * quoit_request_exclude_slice:
 * @slice: short or full name (source/pool/name)
 *
 * Excludes a slice, or for bundles its nodes. A call that uses the request fails with %QUOIT_ERROR_NOT_FOUND if the
 * name is unknown.
 */
QUOIT_API void quoit_request_exclude_slice (QuoitRequest *request, const char *slice);

/**
 * quoit_request_exclude_node:
 * @node: short or full name (source/pool/name)
 *
 * Excludes a node: its slice is not used, and no bundle is placed on it. A call that uses the request fails with
 * %QUOIT_ERROR_NOT_FOUND if the name is unknown. When a group is resized or repaired later, names that the fleet no
 * longer has are ignored.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_exclude_node (QuoitRequest *request, const char *node);

/**
 * quoit_request_set_cut:
 * @cut: how the slices of the group may be cut from larger ones
 *
 * Allows that each slice of the group is a part of a slice of the fleet: a box of whole hosts with the requested
 * topology. The group then has the chips of these hosts, and each part is a slice of its own for the job: it has a
 * number, coordinates and an environment like a whole slice. Several parts can be in one slice, also of different
 * groups. A host is used only if it is alive, not draining and wholly unused.
 *
 * Among all places, those are chosen that leave the most room for large parts (docs/parts.md). A group of parts is
 * stored with its hosts, so its places never change, except by quoit_ledger_repair().
 *
 * Without this call, and with %QUOIT_CUT_WHOLE, a request gets only whole slices of its topology.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown number. On use, a request for bundles is refused, and so is one that
 * also sets the TPU per bundle, keeps to or spreads over domains, or is near a group. For tpu7x only
 * %QUOIT_CUT_PARTITION is accepted, and only for generations that have cubes.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_cut (QuoitRequest *request, QuoitCut cut, GError **error);

/**
 * quoit_request_set_cubes:
 * @cubes: which cubes may be joined
 *
 * Makes each slice of the group from cubes of one block: a topology such as 8x8x8 takes eight cubes. The group has all
 * hosts of its cubes, and each joined slice is a slice of its own for the job, with worker ids, coordinates and an
 * environment like a whole slice of that topology. Slices of the fleet that have the topology already are not used; add
 * an alternative for them. Topologies below a cube are parts: use quoit_request_set_cut().
 *
 * The cubes are those that cost later requests least (docs/cubes.md). They never change, except by
 * quoit_ledger_repair(), which replaces cubes with a lost host in the same block if it can.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown number. On use, a request is refused if its generation has no cubes,
 * if a side of its topology is not a multiple of 4, if its topology cannot be twisted although it asks for that (only
 * k k 2k and k 2k 2k of v4 and v5p can), or if it is for bundles, may be cut, sets the TPU per bundle, keeps to or
 * spreads over domains, or is near a group.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_cubes (QuoitRequest *request, QuoitCubes cubes, GError **error);

/**
 * quoit_request_set_place:
 * @place: which places the parts get
 *
 * Sets which of the places of its parts a request that may be cut gets (docs/parts.md), or which blocks a request that
 * joins cubes prefers (docs/cubes.md). If fewer slices than requested are found so, they are packed again by any
 * policy, so the policy never changes whether a request fits.
 *
 * Without this call, %QUOIT_PLACE_BEST is used. It reads the expected runtime of the request, or else its lease, and
 * the expected ends and leases of other groups.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown number. On use, another policy is refused for a request that may not
 * be cut and joins no cubes.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_place (QuoitRequest *request, QuoitPlacePolicy place, GError **error);

/**
 * quoit_request_keep_to:
 * @domain: %QUOIT_DOMAIN_POOL or %QUOIT_DOMAIN_ZONE; %QUOIT_DOMAIN_NONE: anywhere
 *
 * Requires that all slices of the group are in one pool, or in one zone, whichever it is. If several have enough free
 * slices, the one with the fewest free slices is used; equal ones are used in natural order. When the group is resized
 * or repaired, new slices come from the same place as the slices that it keeps.
 *
 * With %QUOIT_DOMAIN_ZONE, only slices whose nodes all have the same zone are used.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown number. On use, a request for bundles is refused, and so is one that
 * also has quoit_request_spread_over().
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_keep_to (QuoitRequest *request, QuoitDomain domain, GError **error);

/**
 * quoit_request_spread_over:
 * @domain: %QUOIT_DOMAIN_POOL or %QUOIT_DOMAIN_ZONE; %QUOIT_DOMAIN_NONE: no spread, and the numbers are not read
 * @max_skew: by how many slices two domains may differ, 1 to 1,000,000
 * @min_domains: 1 to 1,000,000; with fewer domains, none may have more than @max_skew slices
 *
 * Distributes the slices of the group over pools or zones, as evenly as the free slices allow, and requires what
 * maxSkew and minDomains of topologySpreadConstraints do in Kubernetes, with DoNotSchedule: a domain may have at most
 * @max_skew slices of the group more than the domain with the fewest. All domains count that have a slice which the
 * request could use if it were free, also those that are full. If there are fewer than @min_domains of them, the
 * fewest count as 0.
 *
 * Domains that get one slice more than others are those with the fewest free slices; equal ones in natural order. When
 * the group is resized or repaired, the slices that it keeps count, and a smaller group gives up slices where it has
 * most. A slice that quoit_ledger_release_slice() gives up is not tested; later slices then go where the group has
 * fewest.
 *
 * With %QUOIT_DOMAIN_ZONE, only slices whose nodes all have the same zone are used.
 *
 * Fails with %QUOIT_ERROR_INVALID for other numbers. On use, a request for bundles is refused, and so is one that also
 * has quoit_request_keep_to().
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_spread_over (QuoitRequest *request, QuoitDomain domain, int64_t max_skew,
                                          int64_t min_domains, GError **error);

/**
 * quoit_request_set_near:
 * @group: (nullable): a group, NAME or NAME@ID; %NULL: none
 *
 * Prefers slices in the pools of another group; then slices in pools that are completely in its zones; then any. The
 * preference never makes a request not fit. Among slices that it does not distinguish, the usual ones are chosen. It is
 * weaker than quoit_request_keep_to() and quoit_request_spread_over(): it chooses among the domains that these allow.
 * The preference applies at the moment of placement; nothing moves when the other group does. When the group is resized
 * or repaired after the other one has ended, it is ignored.
 *
 * The other group must live when the request is granted. So no option of a report and no preemption ends it, though an
 * option can shrink it, and a start or a promise of a queue plan is before its assumed end (see #QuoitStart). A request
 * for which only that group is in the way has no such option; reserve it without the preference.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text. A call that uses the request fails with %QUOIT_ERROR_NOT_FOUND if
 * no live group has the name, and with %QUOIT_ERROR_CONFLICT if the id belongs to another one. On use, a request for
 * bundles is refused.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_set_near (QuoitRequest *request, const char *group, GError **error);

/**
 * quoit_request_add_bundles:
 * @amounts: the resources of each bundle, "TPU=4,CPU=8"; see "Amounts of bundles" of #QuoitRequest
 * @n_bundles: the number of equal bundles; a request has at most 10,000 bundles
 *
 * Adds bundles. Each bundle is placed on one node. A request has slices or bundles, never both. Bundles have indices
 * from 0 in the order in which they were added; the bundles of the group have the same indices.
 *
 * Fails with %QUOIT_ERROR_INVALID if @amounts does not have this syntax, if a number is out of range, or if the bundles
 * of the request have more than 256 different resources.
 */
QUOIT_API bool quoit_request_add_bundles (QuoitRequest *request, const char *amounts, int64_t n_bundles,
                                          GError **error);

/**
 * quoit_request_read_bundles:
 * @text: JSON, or YAML with one document
 * @length: the number of bytes
 *
 * Adds the bundles of a file that has arguments of Ray's placement_group(). The file is a list of maps, such as
 * [{"CPU": 1, "TPU": 4}], or a map with bundles, strategy, bundle_label_selector and topology_strategy. Amounts are
 * converted like in Ray: 0.57 counts as 0.5699, and resources with amount 0 are dropped.
 *
 * Fails with %QUOIT_ERROR_INVALID if the file has another form, or if the functions that set these parts would fail.
 * The message has the place in the file, and nothing is added.
 */
QUOIT_API bool quoit_request_read_bundles (QuoitRequest *request, const char *text, size_t length, GError **error);

/**
 * quoit_request_select_bundle:
 * @bundle: the index of an added bundle
 * @key: a label key
 * @value: a condition in Ray's syntax: "v", "!v", "in(a,b)", "!in(a,b)"; blanks are not removed
 *
 * Restricts a bundle to nodes that satisfy this selector, in addition to the bundle's other selectors and those of the
 * request.
 *
 * Fails with %QUOIT_ERROR_INVALID if there is no such bundle, if Ray refuses the key or the condition, or for more than
 * 1,000 selectors of a bundle or 1,000,000 of all bundles.
 */
QUOIT_API bool quoit_request_select_bundle (QuoitRequest *request, uint32_t bundle, const char *key, const char *value,
                                            GError **error);

/**
 * quoit_request_set_strategy:
 * @strategy: the strategy; %QUOIT_STRATEGY_PACK if this is not called
 *
 * Sets the strategy for bundles. On use, a strategy without bundles is refused.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown number.
 */
QUOIT_API bool quoit_request_set_strategy (QuoitRequest *request, QuoitStrategy strategy, GError **error);

/**
 * quoit_request_set_policy:
 * @policy: the policy; %QUOIT_POLICY_BEST if this is not called
 *
 * Sets the policy for bundles. %QUOIT_POLICY_RAY places bundles where Ray 2.60's control plane would, and refuses a
 * request if Ray answers FAILED or INFEASIBLE, even if a placement exists. If Ray would choose at random among nodes,
 * the first node in natural order is chosen. Chips are allocated like a raylet does: a placement that the control plane
 * grants, but no raylet could serve, is refused.
 *
 * A request with policy `ray` but without bundles is refused when it is used. Fails with %QUOIT_ERROR_INVALID for an
 * unknown number.
 */
QUOIT_API bool quoit_request_set_policy (QuoitRequest *request, QuoitPolicy policy, GError **error);

/**
 * quoit_request_set_topology_label:
 * @key: (nullable): a label key; %NULL: none
 * @n_values: the number of values of the label, from 1
 *
 * Places all bundles on nodes with the same value of a label, like Ray's topology_strategy={KEY: "STRICT_PACK"}. The
 * strategy applies among these nodes. Nodes without the label, or with an empty value, are not used.
 *
 * With several values, the bundles are divided evenly and in order over that many values: with "ray.io/tpu-slice-name"
 * and 2, the first half is placed in one slice and the second half in another one.
 *
 * Fails with %QUOIT_ERROR_INVALID if @key is not a label key, or @n_values is out of range. On use, a number of values
 * that does not divide the number of bundles, and more than one value with policy `ray`, are refused.
 */
QUOIT_API bool quoit_request_set_topology_label (QuoitRequest *request, const char *key, int64_t n_values,
                                                 GError **error);

/**
 * quoit_request_add_alternative:
 * @alternative: another request for the same group, which is copied; later changes of @alternative have no effect
 *
 * Adds an alternative: what the group gets if neither @request itself nor the alternatives before can be granted. A
 * call that reserves tries them in order, and the group gets the first one that fits; quoit_group_get_alternative()
 * returns which. A request has at most 16 alternatives.
 *
 * An alternative states what is requested and where: slices or bundles, pool, zone, selectors, names of slices. It can
 * have its own expected run time. Name, key, owner, lease, priority and labels are those of @request, also if they are
 * set later; fill @alternative by changing a quoit_request_copy(), or leave them unset.
 *
 * An alternative whose pool or slices the fleet does not have does not fit, and the next one is tried. If none fits,
 * the error and the report are those of the first alternative that fits later (%QUOIT_ERROR_NOT_NOW), or else of
 * @request itself; quoit_report_dup_alternative() returns the others. Later changes of the group, such as
 * quoit_ledger_resize() and quoit_ledger_repair(), keep to the alternative that it got. A repeated request with the
 * same key has the same alternatives in the same order, and returns the group whatever it got.
 *
 * Fails with %QUOIT_ERROR_INVALID if @alternative has alternatives itself, another name, or another key, owner, lease,
 * priority or label; or for the 17th alternative. On use, an alternative that is not complete is refused like any
 * request.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_request_add_alternative (QuoitRequest *request, const QuoitRequest *alternative, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRequest, quoit_request_free)

G_END_DECLS

#endif
