/* SPDX-License-Identifier: Apache-2.0 */
/* Ray 2.60's SlicePlacementGroup, without Ray: what slice_placement_group() requests from the cluster.
 *
 * Fill a QuoitRaySliceRequest with the arguments, and pass it to quoit_ray_slice_group_new(). The result has the
 * bundles, their label selectors, the placement groups, and the heads that Ray reserves first. If a slice has several
 * hosts and was not requested by name, Ray learns its name when it has reserved the head. You pass that name to
 * quoit_ray_slice_group_set_slice_name(). Until then, the bundles of the slice do not select a slice.
 *
 * The size in memory of a QuoitRaySliceGroup is that of its request: it is independent of the number of bundles. All
 * functions are pure: they use only their arguments, and no environment or clock. */
#ifndef QUOIT_RAY_SLICES_H
#define QUOIT_RAY_SLICES_H

#include <stdbool.h>

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRaySliceLayout:
 * @QUOIT_RAY_LAYOUT_ONE_GROUP: one placement group has the bundles of all slices
 * @QUOIT_RAY_LAYOUT_GROUP_PER_SLICE: each slice has its own placement group (pg_per_slice)
 *
 * How the bundles are divided into placement groups.
 */
typedef enum { QUOIT_RAY_LAYOUT_ONE_GROUP = 0, QUOIT_RAY_LAYOUT_GROUP_PER_SLICE = 1 } QuoitRaySliceLayout;

/**
 * QuoitRaySliceRequest:
 *
 * The arguments of slice_placement_group(). The setters check nothing; quoit_ray_slice_group_new() checks all
 * arguments. Mutable: use it in one thread at a time while it changes.
 */
typedef struct _QuoitRaySliceRequest QuoitRaySliceRequest;

/**
 * quoit_ray_slice_request_new:
 * @topology: the topology of each slice, "4x4"; blanks around it and upper case are accepted
 * @accelerator_version: "v6e", "TPU-V6E"; blanks around it are accepted
 *
 * Creates a request with Ray's defaults: one slice with a bundle for each host, SPREAD, one placement group without a
 * name.
 *
 * Returns: (transfer full): the request; quoit_ray_slice_request_free() it
 */
QUOIT_API QuoitRaySliceRequest *quoit_ray_slice_request_new (const char *topology, const char *accelerator_version);

/**
 * quoit_ray_slice_request_free:
 * @request: (nullable) (transfer full): the request
 */
QUOIT_API void quoit_ray_slice_request_free (QuoitRaySliceRequest *request);

/**
 * quoit_ray_slice_request_set_n_slices:
 * @n_slices: the number of slices; 1 if this is not called
 *
 * Sets num_slices.
 */
QUOIT_API void quoit_ray_slice_request_set_n_slices (QuoitRaySliceRequest *request, int64_t n_slices);

/**
 * quoit_ray_slice_request_set_chips_per_vm:
 * @n_chips: the chips of one host; quoit_ray_chips_per_host() if this is not called
 *
 * Sets chips_per_vm.
 */
QUOIT_API void quoit_ray_slice_request_set_chips_per_vm (QuoitRaySliceRequest *request, int64_t n_chips);

/**
 * quoit_ray_slice_request_set_resource_per_chip:
 * @factor: units of the resource TPU per chip; 1 if this is not called
 *
 * Sets tpu_resource_per_chip. Without this argument, Ray reads RAY_TPU_RESOURCE_PER_CHIP; see
 * quoit_ray_resource_per_chip().
 */
QUOIT_API void quoit_ray_slice_request_set_resource_per_chip (QuoitRaySliceRequest *request, int64_t factor);

/**
 * quoit_ray_slice_request_set_resources:
 * @per_bundle: (nullable): the resources of each bundle; copied
 *
 * Sets resources_per_bundle. CPU and TPU are added if they are missing, like in quoit_ray_worker_resources().
 */
QUOIT_API void quoit_ray_slice_request_set_resources (QuoitRaySliceRequest *request,
                                                      const QuoitRayResources *per_bundle);

/**
 * quoit_ray_slice_request_set_strategy:
 * @strategy: "SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"; copied. Like in Ray, an invalid name is refused only
 *   when the placement groups are created
 *
 * Sets strategy.
 */
QUOIT_API void quoit_ray_slice_request_set_strategy (QuoitRaySliceRequest *request, const char *strategy);

/**
 * quoit_ray_slice_request_set_name:
 * @name: the name of the placement group; "" for none; copied
 *
 * Sets name.
 */
QUOIT_API void quoit_ray_slice_request_set_name (QuoitRaySliceRequest *request, const char *name);

/**
 * quoit_ray_slice_request_set_lifetime:
 * @lifetime: (nullable): "detached"; %NULL: the placement groups end with their creator; copied
 *
 * Sets lifetime. It does not apply to heads, which always end with their creator.
 */
QUOIT_API void quoit_ray_slice_request_set_lifetime (QuoitRaySliceRequest *request, const char *lifetime);

/**
 * quoit_ray_slice_request_set_layout:
 * @layout: one placement group, or one for each slice
 *
 * Sets pg_per_slice.
 */
QUOIT_API void quoit_ray_slice_request_set_layout (QuoitRaySliceRequest *request, QuoitRaySliceLayout layout);

/**
 * quoit_ray_slice_request_add_selector:
 * @labels: (nullable): the label selector of the next bundle; copied. %NULL: an empty one
 *
 * Adds an element to bundle_label_selector. The list is empty, or has one element for each bundle of all slices.
 */
QUOIT_API void quoit_ray_slice_request_add_selector (QuoitRaySliceRequest *request, const QuoitRayLabels *labels);

/**
 * QuoitRaySliceGroup:
 *
 * The bundles, label selectors, placement groups and heads that Ray creates for a request.
 *
 * A head is a placement group with one bundle, which requests 1 of a head resource such as "TPU-v6e-16-head". Only
 * worker 0 of each slice has this resource, so a head reserves a slice and shows its name. Heads have strategy PACK, no
 * name and no lifetime.
 *
 * Slices, bundles, heads and placement groups have indices from 0.
 */
typedef struct _QuoitRaySliceGroup QuoitRaySliceGroup;

/**
 * quoit_ray_slice_group_new:
 * @request: the request; used only during this call
 *
 * Checks the request like Ray does, and computes the result. Like Ray, it accepts a negative number of slices: such a
 * group has no bundles, and its counts are negative.
 *
 * Fails with %QUOIT_ERROR_INVALID when quoit_ray_worker_resources() fails, when Ray does not list the topology for the
 * generation, when the number of selectors is not that of the bundles, when the number of slices is 0, or when a count
 * exceeds 64 bits.
 *
 * Returns: (transfer full): the group; quoit_ray_slice_group_free() it
 */
QUOIT_API QuoitRaySliceGroup *quoit_ray_slice_group_new (const QuoitRaySliceRequest *request, GError **error);

/**
 * quoit_ray_slice_group_free:
 * @group: (nullable) (transfer full): the group
 *
 * Frees @group and everything borrowed from it.
 */
QUOIT_API void quoit_ray_slice_group_free (QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_topology:
 *
 * Returns: (transfer none): the topology in Ray's spelling, "4x4", valid until @group is freed
 */
QUOIT_API const char *quoit_ray_slice_group_get_topology (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_version:
 *
 * Returns: (transfer none): the generation in Ray's spelling, "v6e", valid until @group is freed
 */
QUOIT_API const char *quoit_ray_slice_group_get_version (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_slices:
 *
 * Returns: the number of slices
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_slices (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_chips_per_host:
 *
 * Returns: the number of chips of one host
 */
QUOIT_API int64_t quoit_ray_slice_group_get_chips_per_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_devices_per_host:
 *
 * Returns: the amount of the resource TPU of one host: its chips times the units per chip
 */
QUOIT_API int64_t quoit_ray_slice_group_get_devices_per_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_hosts:
 *
 * Returns: the number of hosts of all slices, at least one per slice
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_hosts (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_bundles:
 *
 * Returns the number of bundles of all slices. They are ordered by slice; their order within a slice is independent of
 * worker ids.
 *
 * Returns: the number of bundles; negative for a negative number of slices
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_bundles (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_bundles_per_slice:
 *
 * Returns: the number of bundles of each slice
 */
QUOIT_API int64_t quoit_ray_slice_group_get_bundles_per_slice (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_resources:
 *
 * Returns: (transfer none): the resources of each bundle, valid until @group is freed
 */
QUOIT_API const QuoitRayResources *quoit_ray_slice_group_get_resources (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_is_single_host:
 *
 * Returns whether a slice has one host. For such slices Ray takes no heads, and the bundles do not select a slice, so
 * Ray can place them on hosts of larger slices.
 *
 * Returns: true if each slice has one host, else false
 */
QUOIT_API bool quoit_ray_slice_group_is_single_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_dup_bundle_labels:
 * @bundle: index of a bundle of all slices
 *
 * Returns the label selector of a bundle. It has the requested labels. If slices have several hosts, it also selects
 * the slice by name: the name that the first bundle of the slice with such a label requests, which overrides the label
 * of this bundle, or else the name of quoit_ray_slice_group_set_slice_name().
 *
 * Returns: (transfer full) (nullable): the labels; quoit_ray_labels_free() them. %NULL if there is no such bundle
 */
QUOIT_API QuoitRayLabels *quoit_ray_slice_group_dup_bundle_labels (const QuoitRaySliceGroup *group, int64_t bundle);

/**
 * quoit_ray_slice_group_get_n_heads:
 *
 * Returns the number of heads that Ray reserves. It waits for each head before it reserves the next one. It reserves
 * all heads before it creates a common placement group, or each head before the placement group of its slice.
 *
 * Returns: the number of heads
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_heads (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_head_slice:
 * @head: index of a head
 *
 * Returns the slice for which a head is reserved. The indices of heads and slices differ if earlier slices were
 * requested by name, because these need no heads.
 *
 * Returns: the index of the slice; -1 if there is no such head
 */
QUOIT_API int64_t quoit_ray_slice_group_get_head_slice (const QuoitRaySliceGroup *group, int64_t head);

/**
 * quoit_ray_slice_group_get_head_resource:
 *
 * Returns: (transfer none): the resource of which every head requests 1, "TPU-v6e-16-head", valid until @group is freed
 */
QUOIT_API const char *quoit_ray_slice_group_get_head_resource (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_head_labels:
 *
 * Returns: (transfer none): the label selector of every head: worker 0, and the pod type; valid until @group is freed
 */
QUOIT_API const QuoitRayLabels *quoit_ray_slice_group_get_head_labels (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_set_slice_name:
 * @slice: index of a slice
 * @name: the name of the slice whose head was reserved; copied
 *
 * Sets the name that the bundles of a slice select, or replaces it.
 *
 * Fails with %QUOIT_ERROR_INVALID when the slice has no head; nothing has changed.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_ray_slice_group_set_slice_name (QuoitRaySliceGroup *group, int64_t slice, const char *name,
                                                     GError **error);

/**
 * quoit_ray_slice_group_check_layout:
 * @layout: the layout that the caller expects
 *
 * Checks the layout like two properties of Ray's SlicePlacementGroup do: slice_placement_group requires one placement
 * group, slice_placement_groups requires one per slice.
 *
 * Fails with %QUOIT_ERROR_INVALID when the group has the other layout.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_ray_slice_group_check_layout (const QuoitRaySliceGroup *group, QuoitRaySliceLayout layout,
                                                   GError **error);

/**
 * quoit_ray_slice_group_get_n_groups:
 *
 * Returns: the number of placement groups for the bundles: one (also for a negative number of slices), or one for each
 *   slice
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_groups (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_group_n_bundles:
 * @index: index of a placement group
 *
 * Placement groups have consecutive bundles.
 *
 * Returns: the number of bundles of the placement group; 0 if there is no such group
 */
QUOIT_API int64_t quoit_ray_slice_group_get_group_n_bundles (const QuoitRaySliceGroup *group, int64_t index);

/**
 * quoit_ray_slice_group_dup_group_name:
 * @index: index of a placement group
 *
 * Returns the name of a placement group: that of the request, followed by "_slice_0", "_slice_1"... if each slice has
 * its own.
 *
 * Returns: (transfer full) (nullable): the name, "" for none; g_free() it. %NULL if there is no such group
 */
QUOIT_API char *quoit_ray_slice_group_dup_group_name (const QuoitRaySliceGroup *group, int64_t index);

/**
 * quoit_ray_slice_group_get_strategy:
 *
 * Returns: (transfer none): the strategy of every placement group, valid until @group is freed
 */
QUOIT_API const char *quoit_ray_slice_group_get_strategy (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_lifetime:
 *
 * Returns: (transfer none) (nullable): the lifetime of every placement group, valid until @group is freed; %NULL for
 *   none
 */
QUOIT_API const char *quoit_ray_slice_group_get_lifetime (const QuoitRaySliceGroup *group);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySliceRequest, quoit_ray_slice_request_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySliceGroup, quoit_ray_slice_group_free)

G_END_DECLS

#endif
