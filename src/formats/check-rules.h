/* SPDX-License-Identifier: Apache-2.0 */
/* The data that the rules of `check manifest` work on: a manifest, read as far as possible, and the list of findings.
 * Each rule is a function in one of the tables below. It reports what it finds with quoit_check_report(). */
#pragma once

#include "catalogue/catalogue.h"
#include "formats/check.h"
#include "formats/raycluster.h"

typedef struct _QuoitCheckRule QuoitCheckRule;
typedef struct _QuoitCheckCluster QuoitCheckCluster;
typedef struct _QuoitCheckGroup QuoitCheckGroup;

/* The state of the check of one file. */
typedef struct {
  QuoitTree *tree;
  QuoitManifest manifest; /* sets @error */
  GError *error;          /* the failure of the last read */
  GArray *notices;        /* the findings so far; only check-findings.c knows the type of the elements */
  GHashTable *reported;   /* the findings as text, to report each of them once */
  GHashTable *refused;    /* nodes with an error: the schema does not report their values again */
  GHashTable *objects;    /* kind -> (name -> JsonNode): the objects of the file */
  gboolean is_native;     /* Kubernetes itself reads the object, not a CustomResourceDefinition */
  guint n_objects;        /* how many objects were checked */
} QuoitChecker;

/* A rule, and how severe its findings are. */
struct _QuoitCheckRule {
  const char *name; /* NULL ends a table */
  QuoitSeverity severity;
  /* READING: the readers report these findings, and @check is NULL. CLUSTER and OBJECT: Ray's objects, and objects of
     other kinds that make pods; @group is NULL. GROUP and WORKLOAD: their groups. PODS: the groups of both. */
  enum {
    QUOIT_CHECK_READING,
    QUOIT_CHECK_CLUSTER,
    QUOIT_CHECK_OBJECT,
    QUOIT_CHECK_GROUP,
    QUOIT_CHECK_WORKLOAD,
    QUOIT_CHECK_PODS
  } scope;
  void (*check) (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group);
};

/* The rules whose findings the readers report: indexes into quoit_check_reading_rules. */
typedef enum {
  QUOIT_CHECK_RULE_FIELD,
  QUOIT_CHECK_RULE_VARIABLE,
  QUOIT_CHECK_RULE_RAY_PARAMS,
  QUOIT_CHECK_RULE_NO_RAY_OBJECT,
  QUOIT_CHECK_RULE_MORE_FINDINGS,
  QUOIT_CHECK_RULE_KIND_UNREAD
} QuoitCheckReadingRule;

extern const QuoitCheckRule quoit_check_reading_rules[], quoit_check_name_rules[], quoit_check_replica_rules[],
    quoit_check_slice_rules[], quoit_check_chip_rules[], quoit_check_machine_rules[], quoit_check_pod_rules[],
    quoit_check_param_rules[], quoit_check_multislice_rules[], quoit_check_port_rules[], quoit_check_claim_rules[],
    quoit_check_entrypoint_rules[], quoit_check_workload_rules[], quoit_check_queue_rules[], quoit_check_gke_rules[],
    quoit_check_schema_rules[];

/* The chips of one container. limit_node and request_node are NULL if the value is missing or could not be read. */
typedef struct {
  JsonNode *node, *limit_node, *request_node; /* node: the container */
  QuoitAmount limit, request;
} QuoitCheckChips;

/* One entry of rayStartParams, or of the group's own resources or labels. It is read as if it were the only entry, so
   that a wrong entry does not hide the others. */
typedef struct {
  JsonNode *node;
  const char *name;
  QuoitRayParams params;
} QuoitCheckParam;

/* A text field. The node is NULL if the field is missing. If the field could not be read, the node is set and the text
   is NULL. */
typedef struct {
  JsonNode *node;
  const char *text;
} QuoitCheckText;

/* A number field. The node is NULL if the field is missing. */
typedef struct {
  JsonNode *node;
  gint64 number;
  gboolean is_known; /* the number is the stated value or the default; FALSE: the field could not be read */
} QuoitCheckNumber;

/* The pods of one template: the head group or a worker group of a RayCluster, or a part of another object that makes
   pods. */
struct _QuoitCheckGroup {
  JsonNode *node, *pod; /* pod: template.spec, or NULL */
  gboolean is_head;
  gboolean is_workload;            /* not of Ray: neither KubeRay nor the TPU webhook reads it */
  const char *hosts_name;          /* the field with the number of pods of a slice, such as "numOfHosts" */
  gboolean has_many;               /* that field counts the pods of several slices */
  gboolean has_leader;             /* that field counts a leader without chips, which hosts.number does not */
  gboolean has_leader_in_subgroup; /* a LeaderWorkerSet whose leaders have chips has subgroups */
  QuoitCheckText name;
  QuoitCheckNumber replicas, min_replicas, max_replicas, hosts;
  gint64 n_slices; /* replicas, clamped to minReplicas and maxReplicas as in KubeRay */

  GPtrArray *containers; /* of JsonNode */
  GArray *chips;         /* of QuoitCheckChips: containers with a request or limit of google.com/tpu */
  gint64 n_chips;        /* chips of the pod as the webhook counts them; 0: not a TPU group */
  gboolean states_chips; /* a container has a value of google.com/tpu, even if it cannot be read */
  JsonNode *chips_node;  /* the first value of google.com/tpu above 0 */
  QuoitCheckText accelerator, topology, machine, zone, region;

  QuoitGeneration generation; /* NONE: unknown */
  gboolean has_shape;         /* the topology is valid, for this generation if that is known */
  QuoitShape shape;
  gboolean has_facts;
  QuoitSliceFacts facts;
  GArray *params; /* of QuoitCheckParam */
};

/* A RayCluster, or the RayCluster inside a RayJob or RayService. */
struct _QuoitCheckCluster {
  JsonNode *document, *spec; /* spec: the spec of the RayCluster, or NULL */
  const char *kind;
  gsize longest_name;         /* the longest name that KubeRay accepts */
  gboolean has_random_suffix; /* KubeRay makes the RayCluster, and appends six bytes to the name */
  QuoitCheckText name;
  GArray *groups;    /* of QuoitCheckGroup, the head first */
  GHashTable *names; /* group name -> the first group with that name */
};

/* Reads as much of the group as possible into @group, and reports each field that cannot be read. Free the contents
   with quoit_check_group_clear(). */
void quoit_check_group_read (QuoitChecker *checker, JsonNode *node, gboolean is_head, QuoitCheckGroup *group);
/* Reads the containers and selectors of the pod template @template into a group whose other members are set. Free the
   contents with quoit_check_group_clear(). */
void quoit_check_pods_read (QuoitChecker *checker, JsonNode *pod_template, QuoitCheckGroup *group);
/* Makes a group without pods that describes nodes: a type of accelerator, a topology and chips per host. */
void quoit_check_nodes_read (QuoitChecker *checker, JsonNode *node, QuoitCheckText accelerator, QuoitCheckText topology,
                             JsonNode *chips, QuoitCheckGroup *group);
void quoit_check_group_clear (QuoitCheckGroup *group);
QuoitCheckText quoit_check_read_text (QuoitChecker *checker, JsonNode *from, const char *name);
QuoitCheckNumber quoit_check_read_number (QuoitChecker *checker, JsonNode *from, const char *name,
                                          gint64 default_number);
void quoit_check_params_read (QuoitChecker *checker, QuoitCheckGroup *group);
void quoit_check_params_clear (QuoitCheckGroup *group);

/* Returns the member of the map @from, or NULL if it is missing or @from is NULL. If @from is not a map, reports that
   and returns NULL. */
JsonNode *quoit_check_member (QuoitChecker *checker, JsonNode *from, const char *name);

/* Returns whether the text of @node has a ${VARIABLE} without a value. Then the field cannot be checked, and a note
   reports that. */
gboolean quoit_check_has_unset_variable (QuoitChecker *checker, JsonNode *node, const char *what);

/* These functions read @node, which messages call @what. On failure they report what is wrong, and return FALSE or
   NULL. If @node is NULL, they return FALSE or NULL without a report. */
gboolean quoit_check_text (QuoitChecker *checker, JsonNode *node, const char *what, const char **text);
gboolean quoit_check_count (QuoitChecker *checker, JsonNode *node, const char *what, gint64 *value);
gboolean quoit_check_quantity (QuoitChecker *checker, JsonNode *node, const char *what, QuoitAmount *amount);
JsonArray *quoit_check_array (QuoitChecker *checker, JsonNode *node, const char *what);

/* Returns the value of the container's last variable of that name, or NULL if it has none or comes from elsewhere. */
JsonNode *quoit_check_find_variable (QuoitChecker *checker, JsonNode *container, const char *name);

/* Returns whether the pods find their nodes in another way than by the labels of TPUs: by a compute class, a node pool
   or node affinity. */
gboolean quoit_check_selects_otherwise (const QuoitCheckGroup *group);

/* Returns whether an entry of a pod's 'resourceClaims' may give the pod chips. */
gboolean quoit_check_claim_may_have_chips (QuoitChecker *checker, JsonNode *claim);

/* Returns the rule of that name in @table, which must have it. */
const QuoitCheckRule *quoit_check_find_rule (const QuoitCheckRule *table, const char *name);

/* Adds a finding about @node. Its message is "WHAT VALUE: expected EXPECTED", with the value only if @node is a
   scalar. */
void quoit_check_report (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                         const char *expected, ...) G_GNUC_PRINTF (5, 6);
/* Like quoit_check_report(), but without the value: @what names the part of a long value that is meant. */
void quoit_check_report_part (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                              const char *expected, ...) G_GNUC_PRINTF (5, 6);
/* Like quoit_check_report(), but for an error of a reader. @what may be NULL, if the message of @error names the field.
   Takes ownership of @error. */
void quoit_check_report_error (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                               GError *error);

/* Runs all rules of that scope. @group is NULL for rules about whole objects. */
void quoit_check_run (QuoitChecker *checker, int scope, const QuoitCheckCluster *cluster, const QuoitCheckGroup *group);

/* The names of the objects of one kind in the file: name -> JsonNode. An empty table: the file has none. */
GHashTable *quoit_check_objects (QuoitChecker *checker, const char *kind);

/* Runs the rules of scope PODS on nodes that an object describes. */
void quoit_check_nodes_run (QuoitChecker *checker, const QuoitCheckCluster *cluster, JsonNode *node,
                            QuoitCheckText accelerator, QuoitCheckText topology, JsonNode *chips);

/* Returns whether the object is of that group of the API, or states none. The group "" is Kubernetes' core. */
gboolean quoit_check_is_in_group (QuoitChecker *checker, JsonNode *object, const char *group);

/* Checks the queue of Kueue that the label of an object names, and whether the queue can admit the object. */
void quoit_check_queue_of_job (QuoitChecker *checker, const QuoitCheckCluster *cluster);

/* Check an object of another kind than Ray's. Return FALSE if they do not know the kind. */
gboolean quoit_check_workload (QuoitChecker *checker, JsonNode *object, const char *kind);
gboolean quoit_check_queue (QuoitChecker *checker, JsonNode *object, const char *kind);
gboolean quoit_check_gke_object (QuoitChecker *checker, JsonNode *object, const char *kind);
gboolean quoit_check_claim_object (QuoitChecker *checker, JsonNode *object, const char *kind);

/* Checks the kind, the name and every field of @object as the API server does. Call it after the rules that read the
   object, because it does not report again what they have refused. */
void quoit_check_schema (QuoitChecker *checker, JsonNode *object);
/* Returns whether quoit_check_schema() compares the fields of @object, or reports that its kind does not exist. Sets
   is_native of @checker. */
gboolean quoit_check_has_schema (QuoitChecker *checker, JsonNode *object);

GArray *quoit_check_notices_new (void);
GArray *quoit_check_take_findings (QuoitChecker *checker); /* of QuoitFinding */

static inline const QuoitCheckGroup *
quoit_check_group_at (const QuoitCheckCluster *cluster, guint index)
{
  return &g_array_index (cluster->groups, QuoitCheckGroup, index);
}
