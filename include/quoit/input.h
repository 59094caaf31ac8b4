/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_INPUT_H
#define QUOIT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitSourceKind:
 *
 * The kind of a source's text.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_SOURCE_KIND_FLEET = 1,      /* fleet text */
  QUOIT_SOURCE_KIND_RAYCLUSTER = 2, /* a manifest: the nodes that KubeRay would make of it */
  QUOIT_SOURCE_KIND_RAY_NODES = 3,  /* `ray list nodes`, ray.nodes() */
  QUOIT_SOURCE_KIND_K8S_NODES = 4   /* `kubectl get nodes -o json` */
} QuoitSourceKind;

/**
 * QuoitInput:
 *
 * The files that describe a source: a node list, and optionally what the cluster reports about groups, availability and
 * pods. Create it with quoit_input_new() and fill it with the setters. It can be used for any number of imports.
 *
 * Since: 0.1
 */
typedef struct _QuoitInput QuoitInput;

/**
 * QuoitImport:
 *
 * The result of an import: what changed, and warnings. Immutable.
 *
 * Since: 0.1
 */
typedef struct _QuoitImport QuoitImport;

/**
 * QuoitChangeKind:
 *
 * The kind of one difference between a source's previous and present content.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_CHANGE_ADDED = 1,      /* a node is new */
  QUOIT_CHANGE_REMOVED = 2,    /* a node is gone */
  QUOIT_CHANGE_CHANGED = 3,    /* a node is another in place, labels, resources or address */
  QUOIT_CHANGE_STATE = 4,      /* the source says another state of a node */
  QUOIT_CHANGE_POOL = 5,       /* a pool is new, gone, or has other pods or environment */
  QUOIT_CHANGE_LOST = 6,       /* a held node is gone: it stays, dead, while a group has it */
  QUOIT_CHANGE_GROUP = 7,      /* a group that the source has made is new, gone or another */
  QUOIT_CHANGE_EXTERNAL = 8,   /* more or less of a node is used by something that no group explains */
  QUOIT_CHANGE_GROUP_SLICE = 9 /* a slice of a group is lost or leaving, or whole again */
} QuoitChangeKind;

/**
 * quoit_input_new:
 * @kind: the kind of @text
 * @text: the bytes; copied
 * @length: the number of bytes
 *
 * Creates an input from the text of a source.
 *
 * - %QUOIT_SOURCE_KIND_FLEET: fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b dead=2.3"
 *   (docs/model.md has the grammar).
 * - %QUOIT_SOURCE_KIND_RAYCLUSTER: a manifest with one RayCluster, RayJob (its rayClusterSpec) or RayService (its
 *   rayClusterConfig). Its nodes are those that KubeRay 1.7 creates, under the names that the TPU webhook gives them.
 *   Other documents are ignored, except ResourceClaims and ResourceClaimTemplates: they state how many devices a pod
 *   claims. A suspended cluster has no nodes. KubeRay ends the cluster name of a job or service with five random
 *   characters; unless the manifest has a status with that name, the host names are assumed, with a warning
 *   (quoit_snapshot_get_node_assumptions()). A job with a clusterSelector is refused.
 * - %QUOIT_SOURCE_KIND_RAY_NODES: the output of `ray list nodes` as JSON or YAML, with or without --detail, or the JSON
 *   of ray.nodes().
 * - %QUOIT_SOURCE_KIND_K8S_NODES: the output of `kubectl get nodes` as JSON or YAML.
 *
 * Returns: (transfer full): the input; quoit_input_free() it
 * Since: 0.1
 */
QUOIT_API QuoitInput *quoit_input_new (QuoitSourceKind kind, const char *text, size_t length);

/**
 * quoit_input_free:
 * @input: (nullable): the input
 *
 * Frees the input.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_free (QuoitInput *input);

/**
 * quoit_input_set_source:
 * @input: the input
 * @source: (nullable): the name; %NULL: "fleet", the manifest's metadata.name, "ray" or "k8s"
 *
 * Sets the name of the source.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_source (QuoitInput *input, const char *source);

/**
 * quoit_input_set_variables:
 * @input: the input
 * @variables: (nullable): "NAME=value" strings, %NULL-terminated; copied
 *
 * Sets the values of ${NAME} in a manifest.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_variables (QuoitInput *input, const char *const *variables);

/**
 * QuoitListKind:
 *
 * A list that completes the input of a cluster: all lists are of one moment.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_LIST_RAY_GROUPS = 1,    /* `ray list placement-groups --detail --format json`, or the state API's table */
  QUOIT_LIST_RAY_AVAILABLE = 2, /* `ray._private.state.available_resources_per_node()`: what is in use outside groups */
  QUOIT_LIST_K8S_PODS = 3       /* `kubectl get pods -o json`: worker ids, and nodes in external use */
} QuoitListKind;

/**
 * quoit_input_set_list:
 * @input: the input
 * @kind: which list
 * @text: (nullable) (array length=length): the list, copied; NULL: no such list
 * @length: its bytes
 *
 * Adds a list to the input of a node list. docs/importing.md describes each.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_list (QuoitInput *input, QuoitListKind kind, const char *text, size_t length);

/**
 * quoit_input_set_topology:
 * @input: the input
 * @topology: (nullable): a topology, such as "2x2x4"
 *
 * Sets the topology of slices whose nodes do not have one, as in Ray before 2.50.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_topology (QuoitInput *input, const char *topology);

/**
 * quoit_input_set_tpu_per_chip:
 * @input: the input
 * @n_devices: 1 to 64
 * @error: (out) (optional): set on failure
 *
 * Sets the cluster's RAY_TPU_RESOURCE_PER_CHIP.
 *
 * Fails with %QUOIT_ERROR_INVALID for another number.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_tpu_per_chip (QuoitInput *input, int64_t n_devices, GError **error);

/**
 * quoit_input_set_join:
 * @input: the input
 * @source: (nullable): the name of an imported source of another kind; %NULL: none
 *
 * Joins the nodes of the input with those of @source that have the same pool, slice and worker id, and the head of the
 * Ray cluster with the head of @source. A joined node has one claim of each source and is removed with the last claim.
 * Its place and name come from the manifest or fleet text; identity, address, state, labels and resources come from the
 * node list. Its groups stay.
 *
 * Without a name, alive nodes with the same address are joined, and nodes in old places of sources that already share a
 * node. A held node never becomes another machine.
 *
 * A machine in both a Ray list and a Kubernetes list has Ray's place and resources, and the labels of both. It is
 * draining or dead if either list reports that. A Kubernetes node keeps its address while it is not Ready. If its
 * address is that of its pod, it follows the pod.
 *
 * The import then also fails with %QUOIT_ERROR_NOT_FOUND if there is no such source, %QUOIT_ERROR_INVALID if it has the
 * input's kind, and %QUOIT_ERROR_CONFLICT if a held node would get another topology or other chips.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_join (QuoitInput *input, const char *source);

/**
 * quoit_input_set_complete:
 * @input: the input
 *
 * States that a list of exactly 100 rows is complete. Ray truncates its lists there by default, so without this call
 * such a list is refused.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_input_set_complete (QuoitInput *input);

/**
 * quoit_load_text:
 * @path: path of the file
 * @text: (out): the bytes, followed by a NUL; g_free() them
 * @length: (out): the number of bytes without the NUL
 * @error: (out) (optional): set on failure
 *
 * Reads a regular file or a pipe of at most 256 MiB, for quoit_input_new() and the setters.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, %QUOIT_ERROR_INVALID for a directory, a device or a file that is too large (found
 * before it is read), and %QUOIT_ERROR_STORE if it cannot be read.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_load_text (const char *path, char **text, size_t *length, GError **error);

/**
 * quoit_import_free:
 * @import: (nullable): the result
 *
 * Frees the result.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_import_free (QuoitImport *import);

/**
 * quoit_import_get_source:
 * @import: the result
 *
 * Returns: (transfer none): the source's name
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_source (const QuoitImport *import);

/**
 * quoit_import_is_new:
 * @import: the result
 *
 * Returns: whether the source was unknown before; there is no difference to report then
 * Since: 0.1
 */
QUOIT_API bool quoit_import_is_new (const QuoitImport *import);

/**
 * quoit_import_get_n_nodes:
 * @import: the result
 *
 * Returns: the number of nodes of the source
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_nodes (const QuoitImport *import);

/**
 * quoit_import_get_n_changes:
 * @import: the result
 *
 * Returns: the number of differences; 0 if nothing changed
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_changes (const QuoitImport *import);

/**
 * quoit_import_get_change_kind:
 * @import: the result
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: the kind of the difference
 * Since: 0.1
 */
QUOIT_API QuoitChangeKind quoit_import_get_change_kind (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_name:
 * @import: the result
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): the node, pool or group; the source, for external use
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_name (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_detail:
 * @import: the result
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): such as "alive -> dead"; "" if the kind says everything
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_detail (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_group:
 * @import: the result
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): NAME@ID of the group that has the node; "" if none has it
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_group (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_n_warnings:
 * @import: the result
 *
 * Returns: the number of warnings
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_warnings (const QuoitImport *import);

/**
 * quoit_import_get_warning:
 * @import: the result
 * @warning: below quoit_import_get_n_warnings()
 *
 * Returns: (transfer none): a warning: something that the reader accepted but that can be a mistake
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_warning (const QuoitImport *import, uint32_t warning);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitImport, quoit_import_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitInput, quoit_input_free)

G_END_DECLS

#endif
