/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ray's SlicePlacementGroup, without Ray: what slice_placement_group() of Ray 2.60 asks the cluster for.
 *
 * A QuoitRaySliceRequest holds its arguments; quoit_ray_slice_group_new() checks them as Ray does and says which
 * bundles Ray would make of them, under which selectors, in how many placement groups, and which heads it would take
 * first. A slice of several hosts whose bundles name no slice gets its name from the head that Ray takes for it: until
 * quoit_ray_slice_group_set_slice_name() says it, its bundles select no slice.
 *
 * Nothing is listed that can be counted, so a group costs what its request does, however many bundles it has.
 * Everything here is pure: no state but what is passed, no environment, no clock.
 */
#ifndef QUOIT_RAY_SLICES_H
#define QUOIT_RAY_SLICES_H

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRaySliceLayout:
 * @QUOIT_RAY_LAYOUT_ONE_GROUP: one placement group holds the bundles of all slices
 * @QUOIT_RAY_LAYOUT_GROUP_PER_SLICE: each slice has a placement group of its own (pg_per_slice)
 *
 * How the bundles are divided into placement groups.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_RAY_LAYOUT_ONE_GROUP = 0, QUOIT_RAY_LAYOUT_GROUP_PER_SLICE = 1 } QuoitRaySliceLayout;

/**
 * QuoitRaySliceRequest:
 *
 * The arguments of slice_placement_group(). Nothing is checked before quoit_ray_slice_group_new().
 *
 * Since: 0.1
 */
typedef struct _QuoitRaySliceRequest QuoitRaySliceRequest;

/**
 * quoit_ray_slice_request_new:
 * @topology: "4x4", of each slice; blanks around it and capitals do not matter
 * @accelerator_version: "v6e", "TPU-V6E"; blanks around it do not matter
 *
 * Asks for one slice with a bundle for each host, SPREAD, in one group without a name.
 *
 * Returns: (transfer full): the request; quoit_ray_slice_request_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRaySliceRequest *quoit_ray_slice_request_new (const char *topology, const char *accelerator_version);

/**
 * quoit_ray_slice_request_free:
 * @request: (nullable) (transfer full): a request
 *
 * Frees @request.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_free (QuoitRaySliceRequest *request);

/**
 * quoit_ray_slice_request_set_n_slices:
 * @request: a request
 * @n_slices: how many slices; 1 if it is not said
 *
 * Sets num_slices.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_n_slices (QuoitRaySliceRequest *request, int64_t n_slices);

/**
 * quoit_ray_slice_request_set_chips_per_vm:
 * @request: a request
 * @n_chips: the chips of one host; quoit_ray_chips_per_host() if it is not said
 *
 * Sets chips_per_vm.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_chips_per_vm (QuoitRaySliceRequest *request, int64_t n_chips);

/**
 * quoit_ray_slice_request_set_resource_per_chip:
 * @request: a request
 * @factor: how many units of the resource TPU one chip counts for; 1 if it is not said
 *
 * Sets tpu_resource_per_chip. Ray takes it from RAY_TPU_RESOURCE_PER_CHIP where it is not given: see
 * quoit_ray_resource_per_chip().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_resource_per_chip (QuoitRaySliceRequest *request, int64_t factor);

/**
 * quoit_ray_slice_request_set_resources:
 * @request: a request
 * @per_bundle: (nullable): what each bundle asks for; copied
 *
 * Sets resources_per_bundle. CPU and TPU that are not in it are added, as quoit_ray_worker_resources() adds them.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_resources (QuoitRaySliceRequest *request,
                                                      const QuoitRayResources *per_bundle);

/**
 * quoit_ray_slice_request_set_strategy:
 * @request: a request
 * @strategy: "SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"; copied. Ray checks it when it makes the groups, not here
 *
 * Sets strategy.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_strategy (QuoitRaySliceRequest *request, const char *strategy);

/**
 * quoit_ray_slice_request_set_name:
 * @request: a request
 * @name: of the group, "" for none; copied
 *
 * Sets name.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_name (QuoitRaySliceRequest *request, const char *name);

/**
 * quoit_ray_slice_request_set_lifetime:
 * @request: a request
 * @lifetime: (nullable): "detached", or %NULL: the groups end with their creator; copied
 *
 * Sets lifetime. Heads never have one: they end with their creator also where the groups do not.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_lifetime (QuoitRaySliceRequest *request, const char *lifetime);

/**
 * quoit_ray_slice_request_set_layout:
 * @request: a request
 * @layout: one group, or one for each slice
 *
 * Sets pg_per_slice.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_set_layout (QuoitRaySliceRequest *request, QuoitRaySliceLayout layout);

/**
 * quoit_ray_slice_request_add_selector:
 * @request: a request
 * @labels: (nullable): what the next bundle selects its node by; copied. %NULL for nothing
 *
 * Adds to bundle_label_selector: none at all, or one for each bundle over all slices.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_request_add_selector (QuoitRaySliceRequest *request, const QuoitRayLabels *labels);

/**
 * QuoitRaySliceGroup:
 *
 * What Ray makes of a request: bundles, selectors, placement groups and heads.
 *
 * Since: 0.1
 */
typedef struct _QuoitRaySliceGroup QuoitRaySliceGroup;

/**
 * quoit_ray_slice_group_new:
 * @request: what is asked for; kept no longer than this call
 * @error: (out) (optional): set on failure
 *
 * Checks @request as Ray does, and says what Ray would ask the cluster for. Less than no slices are accepted, as by
 * Ray: such a group has no bundles, and counts below 0.
 *
 * Fails with %QUOIT_ERROR_INVALID when quoit_ray_worker_resources() would, when Ray does not list the topology for the
 * generation, when there are selectors and not as many as bundles, when no slice is asked for, or when a count is
 * beyond 64 bits.
 *
 * Returns: (transfer full): the group; quoit_ray_slice_group_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRaySliceGroup *quoit_ray_slice_group_new (const QuoitRaySliceRequest *request, GError **error);

/**
 * quoit_ray_slice_group_free:
 * @group: (nullable) (transfer full): a group
 *
 * Frees @group and what was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_slice_group_free (QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_topology:
 * @group: a group
 *
 * The topology as Ray writes it.
 *
 * Returns: (transfer none): "4x4", valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_slice_group_get_topology (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_version:
 * @group: a group
 *
 * The generation as Ray writes it.
 *
 * Returns: (transfer none): "v6e", valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_slice_group_get_version (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_slices:
 * @group: a group
 *
 * The slices that were asked for.
 *
 * Returns: the number of slices
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_slices (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_chips_per_host:
 * @group: a group
 *
 * The chips of one host.
 *
 * Returns: the number of chips
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_chips_per_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_devices_per_host:
 * @group: a group
 *
 * The resource TPU of one host: its chips times the units of one chip.
 *
 * Returns: the units of TPU
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_devices_per_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_hosts:
 * @group: a group
 *
 * The hosts over all slices, at least one a slice.
 *
 * Returns: the number of hosts
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_hosts (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_n_bundles:
 * @group: a group
 *
 * The bundles over all slices. They are ordered by slice; the bundles of a slice are not tied to its worker ids.
 *
 * Returns: the number of bundles; less than 0 for less than no slices
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_bundles (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_bundles_per_slice:
 * @group: a group
 *
 * The bundles of each slice.
 *
 * Returns: the number of bundles
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_bundles_per_slice (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_resources:
 * @group: a group
 *
 * What each bundle asks for.
 *
 * Returns: (transfer none): the resources, valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayResources *quoit_ray_slice_group_get_resources (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_is_single_host:
 * @group: a group
 *
 * Whether a slice is one host. Such slices have no heads and their bundles select no slice, so that Ray may put them on
 * hosts of greater slices.
 *
 * Returns: 1 when it is, 0 when not
 * Since: 0.1
 */
QUOIT_API int quoit_ray_slice_group_is_single_host (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_dup_bundle_labels:
 * @group: a group
 * @bundle: 0 for the first, over all slices
 *
 * What a bundle selects its node by: the labels that were asked for, and in slices of several hosts the slice: the
 * first that a bundle of that slice asks for, over what this one asks for, or the one whose head was taken.
 *
 * Returns: (transfer full) (nullable): the labels; quoit_ray_labels_free() them. %NULL where there is no such bundle
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_slice_group_dup_bundle_labels (const QuoitRaySliceGroup *group, int64_t bundle);

/**
 * quoit_ray_slice_group_get_n_heads:
 * @group: a group
 *
 * The heads that Ray takes, one after the other: all before it makes the one group, or each before it makes its slice's
 * own. A head is a placement group of one bundle, PACK, without a name or a lifetime, and Ray waits for each.
 *
 * Returns: the number of heads
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_heads (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_head_slice:
 * @group: a group
 * @head: 0 for the first that is taken
 *
 * The slice that a head is taken for. release_head_pgs() counts heads, not slices: they part where slices before it
 * were asked for by name.
 *
 * Returns: the index of the slice; -1 where there is no such head
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_head_slice (const QuoitRaySliceGroup *group, int64_t head);

/**
 * quoit_ray_slice_group_get_head_resource:
 * @group: a group
 *
 * The resource of which the bundle of every head asks for 1.
 *
 * Returns: (transfer none): "TPU-v6e-16-head", valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_slice_group_get_head_resource (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_head_labels:
 * @group: a group
 *
 * What the bundle of every head selects its node by: worker 0, and the pod type.
 *
 * Returns: (transfer none): the labels, valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayLabels *quoit_ray_slice_group_get_head_labels (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_set_slice_name:
 * @group: a group
 * @slice: 0 for the first
 * @name: the name of the slice whose head was taken; copied
 * @error: (out) (optional): set on failure
 *
 * Sets the slice, and replaces an earlier one.
 *
 * Fails with %QUOIT_ERROR_INVALID when no head is taken for @slice; nothing has changed.
 *
 * Returns: 1 when it was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_slice_group_set_slice_name (QuoitRaySliceGroup *group, int64_t slice, const char *name,
                                                    GError **error);

/**
 * quoit_ray_slice_group_check_layout:
 * @group: a group
 * @layout: that the caller takes for granted
 * @error: (out) (optional): set on failure
 *
 * Refuses what Ray's two properties refuse: slice_placement_group of several groups, and slice_placement_groups of one.
 *
 * Fails with %QUOIT_ERROR_INVALID when @group was asked for in another layout.
 *
 * Returns: 1 when the layout is this one, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_slice_group_check_layout (const QuoitRaySliceGroup *group, QuoitRaySliceLayout layout,
                                                  GError **error);

/**
 * quoit_ray_slice_group_get_n_groups:
 * @group: a group
 *
 * The placement groups that hold the bundles: one, also for less than no slices, or one for each slice.
 *
 * Returns: the number of placement groups
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_n_groups (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_group_n_bundles:
 * @group: a group
 * @index: 0 for the first placement group
 *
 * The bundles of a placement group; they are the next of all bundles, in their order.
 *
 * Returns: the number of bundles; 0 where there is no such group
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slice_group_get_group_n_bundles (const QuoitRaySliceGroup *group, int64_t index);

/**
 * quoit_ray_slice_group_dup_group_name:
 * @group: a group
 * @index: 0 for the first placement group
 *
 * The name of a placement group: that of the request, and behind it "_slice_0" and on where each slice has its own.
 *
 * Returns: (transfer full) (nullable): the name, "" for none; g_free() it. %NULL where there is no such group
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_slice_group_dup_group_name (const QuoitRaySliceGroup *group, int64_t index);

/**
 * quoit_ray_slice_group_get_strategy:
 * @group: a group
 *
 * The strategy of every placement group.
 *
 * Returns: (transfer none): the strategy, valid until @group is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_slice_group_get_strategy (const QuoitRaySliceGroup *group);

/**
 * quoit_ray_slice_group_get_lifetime:
 * @group: a group
 *
 * The lifetime of every placement group.
 *
 * Returns: (transfer none) (nullable): the lifetime, valid until @group is freed; %NULL for none
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_slice_group_get_lifetime (const QuoitRaySliceGroup *group);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySliceRequest, quoit_ray_slice_request_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySliceGroup, quoit_ray_slice_group_free)

G_END_DECLS

#endif
