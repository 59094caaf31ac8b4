/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_INPUT_H
#define QUOIT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/amount.h>
#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitSourceKind:
 *
 * The kind of a source's text.
 */
typedef enum {
  QUOIT_SOURCE_KIND_FLEET = 1,      /* fleet text */
  QUOIT_SOURCE_KIND_RAYCLUSTER = 2, /* a manifest: the nodes that KubeRay would create for it */
  QUOIT_SOURCE_KIND_RAY_NODES = 3,  /* `ray list nodes`, ray.nodes() */
  QUOIT_SOURCE_KIND_K8S_NODES = 4   /* `kubectl get nodes -o json` */
} QuoitSourceKind;

/**
 * QuoitNodeState:
 *
 * The state of a node.
 */
typedef enum {
  QUOIT_NODE_ALIVE = 0,
  QUOIT_NODE_DRAINING = 1, /* present work continues; the node gets no new work */
  QUOIT_NODE_DEAD = 2
} QuoitNodeState;

/**
 * QuoitInput:
 *
 * The files that describe a source: a node list, and optionally what the cluster reports about groups, availability and
 * pods. Create it with quoit_input_new() or quoit_input_new_nodes(), and fill it with the setters. It can be used for
 * any number of imports.
 */
typedef struct _QuoitInput QuoitInput;

/**
 * QuoitImport:
 *
 * The result of an import: what changed, and warnings. Immutable.
 */
typedef struct _QuoitImport QuoitImport;

/**
 * QuoitChangeKind:
 *
 * The kind of a difference between the previous and the present content of a source.
 */
typedef enum {
  QUOIT_CHANGE_ADDED = 1,      /* a node is new */
  QUOIT_CHANGE_REMOVED = 2,    /* a node is gone */
  QUOIT_CHANGE_CHANGED = 3,    /* the place, labels, resources or address of a node changed */
  QUOIT_CHANGE_STATE = 4,      /* the source reports a different state of a node */
  QUOIT_CHANGE_POOL = 5,       /* a pool is new or gone, or its pods or its environment changed */
  QUOIT_CHANGE_LOST = 6,       /* an allocated node is gone: it stays as dead while a group has it */
  QUOIT_CHANGE_GROUP = 7,      /* a group that the source owns is new, gone or different */
  QUOIT_CHANGE_EXTERNAL = 8,   /* the external use of a node changed */
  QUOIT_CHANGE_GROUP_SLICE = 9 /* a slice of a group is lost, leaving, or whole again */
} QuoitChangeKind;

/**
 * quoit_input_new:
 * @kind: the kind of @text; another number is a programming error
 * @text: the bytes; copied
 * @length: the number of bytes
 *
 * Creates an input from the text of a source.
 *
 * - %QUOIT_SOURCE_KIND_FLEET: fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b dead=2.3"
 *   (docs/model.md has the grammar). Items such as "group train v6e 4x4 x2 until=2027-01-01T00:00Z" are groups that the
 *   import reserves after the nodes, in the same entry. A live group of that name with the same request and owner stays
 *   as it is. The import then also fails like quoit_ledger_reserve(), also with %QUOIT_ERROR_NOT_NOW and
 *   %QUOIT_ERROR_NEVER.
 * - %QUOIT_SOURCE_KIND_RAYCLUSTER: a manifest with one RayCluster, RayJob (its rayClusterSpec) or RayService (its
 *   rayClusterConfig). Its nodes are those that KubeRay 1.7 creates, under the names that the TPU webhook gives them.
 *   Other documents are ignored, except ResourceClaims and ResourceClaimTemplates: they state how many devices a pod
 *   claims. A suspended cluster has no nodes. KubeRay ends the name of the cluster of a job or service with five random
 *   characters. Unless the manifest has a status with that name, the host names are assumed, with a warning
 *   (quoit_snapshot_get_node_assumptions()). A job with a clusterSelector is refused. A manifest without these kinds
 *   can have one JobSet, LeaderWorkerSet, Job, StatefulSet or Pod instead; without these, one CronJob, Deployment or
 *   ReplicaSet. Its nodes are named like the host names of its pods, and their worker ids are the indices of the pods.
 * - %QUOIT_SOURCE_KIND_RAY_NODES: the output of `ray list nodes` as JSON or YAML, with or without --detail, or the JSON
 *   of ray.nodes().
 * - %QUOIT_SOURCE_KIND_K8S_NODES: the output of `kubectl get nodes` as JSON or YAML.
 *
 * Returns: (transfer full): the input; quoit_input_free() it
 */
QUOIT_API QuoitInput *quoit_input_new (QuoitSourceKind kind, const char *text, size_t length);

/**
 * quoit_input_new_nodes:
 *
 * Creates an input whose nodes the caller adds one by one, without a text. It has the facts of a list of Ray's nodes: a
 * source of kind %QUOIT_SOURCE_KIND_RAY_NODES, with the same rules, joins and setters. The same nodes in such a list
 * make the same fleet. Use it with quoit_ledger_import() and quoit_ledger_sync() for all nodes of the source, and with
 * quoit_ledger_update_nodes() for a few of them.
 *
 * Messages about a node begin with its number, counted from 0, and its name: "node 17 'host-17': ".
 *
 * Returns: (transfer full): the input; quoit_input_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitInput *quoit_input_new_nodes (void);

/**
 * quoit_input_add_node:
 * @input: from quoit_input_new_nodes()
 * @id: (nullable): the id that identifies the node in its source, such as Ray's node id; %NULL: the name
 * @name: (nullable): the host name; %NULL: the address, or else the id
 * @address: (nullable): the address by which the node joins nodes of other sources; %NULL: unknown
 * @state: the state of the node
 *
 * Adds a node without labels and resources. The next calls of the functions below describe this node. All texts are
 * copied.
 *
 * Fails with %QUOIT_ERROR_INVALID for a node with neither id nor name, a text of more than 253 bytes or not in UTF-8,
 * an unknown state, or an input with a text. The import fails if two nodes have the same id. Alive nodes with the same
 * name get the name and the start of their id.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_add_node (QuoitInput *input, const char *id, const char *name, const char *address,
                                     QuoitNodeState state, GError **error);

/**
 * quoit_input_set_node_pool:
 * @input: from quoit_input_new_nodes()
 * @pool: the name of the pool
 *
 * Sets the pool of the node that was added last: Ray's label ray.io/node-group. A node without the label is in the pool
 * "default".
 *
 * Fails with %QUOIT_ERROR_INVALID if @pool is not the value of a label.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_node_pool (QuoitInput *input, const char *pool, GError **error);

/**
 * quoit_input_set_node_slice:
 * @input: from quoit_input_new_nodes()
 * @slice: the name of the slice
 * @worker_id: the host's number in the slice: 0 to 32767
 * @accelerator: the TPU generation in any spelling, such as "v6e" or "v5litepod"
 * @topology: the topology of the slice, such as "4x4"
 *
 * Makes the node that was added last a host of a slice. It sets the labels that Ray gives to such a host:
 * ray.io/tpu-slice-name, ray.io/tpu-worker-id, ray.io/tpu-topology, ray.io/tpu-pod-type and ray.io/accelerator-type.
 * The number of chips is the node's resource TPU.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown accelerator, a topology that the accelerator does not have, another
 * worker id, or a name that is not the value of a label.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_node_slice (QuoitInput *input, const char *slice, int64_t worker_id,
                                           const char *accelerator, const char *topology, GError **error);

/**
 * quoit_input_set_node_label:
 * @input: from quoit_input_new_nodes()
 * @key: the key
 * @value: the value
 *
 * Sets a label of the node that was added last. Labels have the syntax and the meaning that they have in Ray.
 *
 * Fails with %QUOIT_ERROR_INVALID for a key or a value that Ray refuses, and after 256 labels. The import fails if a
 * label of Ray is wrong, such as a worker id that is not a number.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_node_label (QuoitInput *input, const char *key, const char *value, GError **error);

/**
 * quoit_input_set_node_resource:
 * @input: from quoit_input_new_nodes()
 * @resource: the name of the resource: "TPU" for chips, "CPU", "memory" in bytes, or any other
 * @amount: the amount, in ten-thousandths
 *
 * Sets a resource of the node that was added last. The resource "node:__internal_head__" marks the node of Ray's head.
 *
 * Fails with %QUOIT_ERROR_INVALID for a negative amount, a name that is empty or has more than 253 bytes, and after 256
 * resources. The import fails if the amount of TPU is not a whole number of chips.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_set_node_resource (QuoitInput *input, const char *resource, QuoitAmount amount,
                                              GError **error);

/**
 * quoit_input_remove_node:
 * @input: from quoit_input_new_nodes()
 * @id: the id of a node, or its name if it was added without an id
 *
 * Removes the node from its source, when the input is given to quoit_ledger_update_nodes(). With such a call in it, the
 * input cannot be imported or synced.
 *
 * Fails with %QUOIT_ERROR_INVALID for an empty id, or one of more than 253 bytes.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_input_remove_node (QuoitInput *input, const char *id, GError **error);

/**
 * quoit_input_free:
 * @input: (nullable): the input
 *
 * Frees the input.
 */
QUOIT_API void quoit_input_free (QuoitInput *input);

/**
 * quoit_input_set_source:
 * @source: (nullable): the name; %NULL: "fleet", the manifest's metadata.name, "ray" or "k8s"
 *
 * Sets the name of the source.
 */
QUOIT_API void quoit_input_set_source (QuoitInput *input, const char *source);

/**
 * quoit_input_set_variables:
 * @variables: (nullable): "NAME=value" strings, %NULL-terminated; copied
 *
 * Sets the values of ${NAME} in a manifest.
 */
QUOIT_API void quoit_input_set_variables (QuoitInput *input, const char *const *variables);

/**
 * QuoitListKind:
 *
 * A further list of a cluster. Take it at the same moment as the node list.
 */
typedef enum {
  QUOIT_LIST_RAY_GROUPS = 1,    /* `ray list placement-groups --detail --format json`, or the state API's table */
  QUOIT_LIST_RAY_AVAILABLE = 2, /* `ray._private.state.available_resources_per_node()`: what is in use outside groups */
  QUOIT_LIST_K8S_PODS = 3       /* `kubectl get pods -o json`: worker ids, and nodes in external use */
} QuoitListKind;

/**
 * quoit_input_set_list:
 * @kind: which list
 * @text: (nullable) (array length=length): the text of the list; copied. %NULL: no such list
 * @length: the number of bytes
 *
 * Adds a list of that kind to the input of a node list. docs/importing.md describes the lists.
 */
QUOIT_API void quoit_input_set_list (QuoitInput *input, QuoitListKind kind, const char *text, size_t length);

/**
 * quoit_input_set_topology:
 * @topology: (nullable): a topology, such as "2x2x4"
 *
 * Sets the topology of slices whose nodes do not have one, as in Ray before 2.50.
 */
QUOIT_API void quoit_input_set_topology (QuoitInput *input, const char *topology);

/**
 * quoit_input_set_tpu_per_chip:
 * @n_devices: 1 to 64
 *
 * Sets the cluster's RAY_TPU_RESOURCE_PER_CHIP.
 *
 * Fails with %QUOIT_ERROR_INVALID for another number.
 */
QUOIT_API bool quoit_input_set_tpu_per_chip (QuoitInput *input, int64_t n_devices, GError **error);

/**
 * quoit_input_set_join:
 * @source: (nullable): the name of an imported source of another kind; %NULL: none
 *
 * Joins the nodes of the input with those of @source that have the same pool, slice and worker id, and the head of the
 * Ray cluster with the head of @source. A joined node has one claim of each source and is removed with the last claim.
 * Its place and name come from the manifest or fleet text; identity, address, state, labels and resources come from the
 * node list. Groups keep the nodes that they have.
 *
 * Without a name, alive nodes with the same address are joined. If a source already shares a node with the input, its
 * nodes with the same pool, slice and worker id are joined too. An allocated node never becomes another machine.
 *
 * A machine in both a Ray list and a Kubernetes list has Ray's place and resources, and the labels of both. It is
 * draining or dead if either list reports that. Dead nodes of a Kubernetes list are matched by address too, unlike dead
 * nodes of a Ray list. If a node has the address of its pod and the pod is replaced, the node gets the new address.
 *
 * The import then also fails with %QUOIT_ERROR_NOT_FOUND if there is no such source, %QUOIT_ERROR_INVALID if it has the
 * input's kind, and %QUOIT_ERROR_CONFLICT if an allocated node would get another topology or other chips.
 */
QUOIT_API void quoit_input_set_join (QuoitInput *input, const char *source);

/**
 * quoit_input_set_complete:
 *
 * States that a list of exactly 100 rows is complete. Ray truncates its lists there by default, so without this call
 * such a list is refused.
 */
QUOIT_API void quoit_input_set_complete (QuoitInput *input);

/**
 * quoit_load_text:
 * @path: path of the file
 * @text: (out): the bytes, followed by a NUL; g_free() them
 * @length: (out): the number of bytes without the NUL
 *
 * Reads a regular file or a pipe of at most 256 MiB, for quoit_input_new() and the setters.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such file, %QUOIT_ERROR_INVALID for a directory, a device, a socket,
 * or more than 256 MiB (a regular file of that size is not read at all), and %QUOIT_ERROR_STORE if it cannot be read.
 */
QUOIT_API bool quoit_load_text (const char *path, char **text, size_t *length, GError **error);

/**
 * quoit_import_free:
 * @import: (nullable): the result
 *
 * Frees the result.
 */
QUOIT_API void quoit_import_free (QuoitImport *import);

/**
 * quoit_import_get_source:
 *
 * Returns: (transfer none): the source's name
 */
QUOIT_API const char *quoit_import_get_source (const QuoitImport *import);

/**
 * quoit_import_is_new:
 *
 * Returns: true if the source was unknown before; then there are no differences
 */
QUOIT_API bool quoit_import_is_new (const QuoitImport *import);

/**
 * quoit_import_get_n_nodes:
 *
 * Returns: the number of nodes of the source
 */
QUOIT_API uint32_t quoit_import_get_n_nodes (const QuoitImport *import);

/**
 * quoit_import_get_n_changes:
 *
 * Returns: the number of differences; 0 if nothing changed
 */
QUOIT_API uint32_t quoit_import_get_n_changes (const QuoitImport *import);

/**
 * quoit_import_get_change_kind:
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: the kind of the difference
 */
QUOIT_API QuoitChangeKind quoit_import_get_change_kind (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_name:
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): the name of the node, pool or group; for external use, the name of the source
 */
QUOIT_API const char *quoit_import_get_change_name (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_detail:
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): the change in words, such as "alive -> dead"; "" if the kind is sufficient
 */
QUOIT_API const char *quoit_import_get_change_detail (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_group:
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): NAME@ID of the group to which the node is allocated; "" if there is none
 */
QUOIT_API const char *quoit_import_get_change_group (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_n_warnings:
 *
 * Returns: the number of warnings
 */
QUOIT_API uint32_t quoit_import_get_n_warnings (const QuoitImport *import);

/**
 * quoit_import_get_warning:
 * @warning: below quoit_import_get_n_warnings()
 *
 * Returns: (transfer none): a warning: something that the reader accepted but that can be a mistake
 */
QUOIT_API const char *quoit_import_get_warning (const QuoitImport *import, uint32_t warning);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitImport, quoit_import_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitInput, quoit_input_free)

G_END_DECLS

#endif
