/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_INPUT_H
#define QUOIT_INPUT_H

#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitInput:
 *
 * What a source says, as the files that tell it: a node list, and beside it what the cluster says of groups and of what
 * is available. Made with quoit_input_new(), filled with the setters, good for any number of calls.
 *
 * Since: 0.1
 */
typedef struct _QuoitInput QuoitInput;

/**
 * quoit_input_new:
 * @kind: what @text is: fleet text, a manifest, or a list of nodes, of Ray's or of Kubernetes'
 * @text: the bytes; copied
 * @length: how many
 *
 * Returns: (transfer full): the input; quoit_input_free() it
 * Since: 0.1
 */
QUOIT_API QuoitInput *quoit_input_new (QuoitSourceKind kind, const char *text, size_t length);

/**
 * quoit_input_free:
 * @input: (nullable): the input
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_free (QuoitInput *input);

/**
 * quoit_input_set_source:
 * @input: the input
 * @source: (nullable): the source's name; %NULL: "fleet", the manifest's metadata.name, "ray", "k8s"
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_source (QuoitInput *input, const char *source);

/**
 * quoit_input_set_variables:
 * @input: the input
 * @variables: (nullable): "NAME=value" strings for ${NAME} in a manifest; %NULL-terminated, copied
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_variables (QuoitInput *input, const char *const *variables);

/**
 * quoit_input_set_ray_groups:
 * @input: the input
 * @text: (nullable): the bytes; copied
 * @length: how many
 *
 * `ray list placement-groups --detail` as JSON or YAML, or the JSON of placement_group_table(), of the same moment as
 * the nodes: the groups are held here too, under Ray's name, or Ray's id where that is empty or taken. With it the
 * source says all of its groups; without it those that it had stay.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_ray_groups (QuoitInput *input, const char *text, size_t length);

/**
 * quoit_input_set_ray_available:
 * @input: the input
 * @text: (nullable): the bytes; copied
 * @length: how many
 *
 * The JSON of available_resources_per_node(), of the same moment: what totals minus availability minus groups leaves is
 * used by something that no group explains, and is nobody's to reserve.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_ray_available (QuoitInput *input, const char *text, size_t length);

/**
 * quoit_input_set_k8s_pods:
 * @input: the input
 * @text: (nullable): the bytes; copied
 * @length: how many
 *
 * `kubectl get pods -A -o json` or `-o yaml`, of the same moment as Kubernetes' nodes; without it, what pods stand
 * beside the nodes in their list. A pod that runs with chips says the worker id of its node, where the slice has
 * several hosts: by TPU_WORKER_ID in its container, literally or as a label or annotation, by its place in
 * TPU_WORKER_HOSTNAMES, or as KubeRay or JobSet mark it. Its address is then the node's, as it is Ray's name for the
 * node; so is that of Ray's pods without chips. What nobody says is assumed, and kept when pods that said it are gone.
 *
 * An import then fails with %QUOIT_ERROR_INVALID for a worker id that is no number or is not of the slice, for two of
 * one node and two nodes of one, for pods of two nodes with one address, and for a pod with chips on a node that is not
 * in the list of nodes; the message begins with "pods: " where it is of this text. It fails with %QUOIT_ERROR_CONFLICT
 * where a held node would get another worker id than it was assumed to have.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_k8s_pods (QuoitInput *input, const char *text, size_t length);

/**
 * quoit_input_set_topology:
 * @input: the input
 * @topology: (nullable): "2x2x4": that of slices whose nodes do not say it, as those of Ray before 2.50
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_topology (QuoitInput *input, const char *topology);

/**
 * quoit_input_set_tpu_per_chip:
 * @input: the input
 * @n_devices: the cluster's RAY_TPU_RESOURCE_PER_CHIP: 1 to 64
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for another number.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_tpu_per_chip (QuoitInput *input, int64_t n_devices, GError **error);

/**
 * quoit_input_set_join:
 * @input: the input
 * @source: (nullable): the name of a source of another kind, which has been imported; %NULL: none is named
 *
 * Nodes of the input that are in a slice are those of @source of the same pool, slice and worker id, and the head of
 * the Ray cluster is that of @source: one node with a claim of each source, which is gone with the last of them. It
 * stands where the manifest or fleet text puts it, keeps its name and the groups that hold it, and has what a node list
 * says of it: identity, address, state, labels and resources. Without a name, alive nodes of one address are joined,
 * and nodes in old places of sources that share a node already. A node that a group holds never becomes another machine
 * than it was.
 *
 * A machine that both Ray and Kubernetes list stands where Ray says and has Ray's resources and the labels of both; it
 * is draining or dead where either says so. A node of Kubernetes keeps its address while it is not Ready; where its
 * address is its pod's, it is followed when the pod is another.
 *
 * An import then fails with %QUOIT_ERROR_NOT_FOUND when there is no such source, %QUOIT_ERROR_INVALID when it is of the
 * input's kind, and %QUOIT_ERROR_CONFLICT when a held node would get another topology or other chips.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_join (QuoitInput *input, const char *source);

/**
 * quoit_input_set_complete:
 * @input: the input
 *
 * Says that lists of exactly 100 rows are all there is. Ray cuts its lists there unless it is told otherwise, so that
 * without this such a list is refused.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_complete (QuoitInput *input);

/**
 * quoit_ledger_import:
 * @ledger: the handle
 * @input: what the source says
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_import_ray_nodes() and its kin, with all that the input has.
 *
 * Fails as they do; %QUOIT_ERROR_INVALID also for files of different moments or clusters.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_import (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_sync:
 * @ledger: the handle
 * @input: what the source says
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * An import of a fleet that has changed: a held node that the source has no longer is lost. It stays in its place,
 * dead, for as long as a group has it, and goes with the next import or sync after that. The import says which slices
 * of which groups are lost, leaving, or whole again; quoit_ledger_repair() and quoit_ledger_resize() act on it.
 *
 * Fails as quoit_ledger_import(), but for such nodes.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_sync (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms, GError **error);

/**
 * quoit_fork_sync:
 * @fork: the fork
 * @input: what the source says
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_sync(), on the fork alone: what it would change.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_fork_sync (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitInput, quoit_input_free)

G_END_DECLS

#endif
