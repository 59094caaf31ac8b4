/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of a check stand on: a manifest that was read as far as it can be, and where findings go. */
#pragma once

#include "catalogue/catalogue.h"
#include "formats/check.h"
#include "formats/raycluster.h"

typedef struct _QuoitCheckRule QuoitCheckRule;
typedef struct _QuoitCheckCluster QuoitCheckCluster;
typedef struct _QuoitCheckGroup QuoitCheckGroup;

/* One check of one file. */
typedef struct {
  QuoitTree *tree;
  QuoitManifest manifest; /* its errors go to why */
  GError *why;
  GArray *notices;       /* of what was found: check-findings.c */
  GHashTable *told;      /* the same as text, so that nothing is told twice */
  GHashTable *templates; /* names of the ResourceClaimTemplates and ResourceClaims in the file */
  GHashTable *claims;
  guint n_objects; /* that were checked */
} QuoitChecker;

struct _QuoitCheckRule {
  const char *name; /* NULL ends a table */
  QuoitSeverity severity;
  enum { QUOIT_CHECK_READING, QUOIT_CHECK_CLUSTER, QUOIT_CHECK_GROUP } scope;
  /* NULL: it is found while reading. @group: NULL where the scope is the cluster. */
  void (*check) (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                 const QuoitCheckGroup *group);
};

/* What is found while reading. */
typedef enum {
  QUOIT_CHECK_RULE_FIELD,
  QUOIT_CHECK_RULE_VARIABLE,
  QUOIT_CHECK_RULE_RAY_PARAMS,
  QUOIT_CHECK_RULE_NO_RAY_OBJECT,
  QUOIT_CHECK_RULE_MORE_FINDINGS
} QuoitCheckReading;

extern const QuoitCheckRule quoit_check_reading_rules[], quoit_check_name_rules[], quoit_check_replica_rules[],
    quoit_check_slice_rules[], quoit_check_chip_rules[], quoit_check_machine_rules[], quoit_check_pod_rules[],
    quoit_check_param_rules[];

/* One resource of one container; a node is NULL where it is not stated or could not be read. */
typedef struct {
  JsonNode *node, *limit_node, *request_node;
  QuoitAmount limit, request;
} QuoitCheckChips;

/* One entry of rayStartParams or of the group's own resources and labels, read as if it were the only one. */
typedef struct {
  JsonNode *node;
  const char *name;
  QuoitRayParams params;
} QuoitCheckParam;

/* A number or text of the group, where it was given: node is NULL where it was not. What could not be read is absent,
 * though its node is there. */
typedef struct {
  JsonNode *node;
  const char *text;
} QuoitCheckText;

typedef struct {
  JsonNode *node;
  gint64 number;
  gboolean is_known; /* it is as stated, or as the default says */
} QuoitCheckNumber;

struct _QuoitCheckGroup {
  JsonNode *node, *pod; /* pod: template.spec, or NULL */
  gboolean is_head;
  QuoitCheckText name;
  QuoitCheckNumber replicas, lowest, highest, hosts;
  gint64 n_slices; /* replicas between lowest and highest, as KubeRay has it */

  GPtrArray *containers; /* JsonNode */
  GArray *chips;         /* of QuoitCheckChips: of the containers that say something of google.com/tpu */
  gint64 n_chips;        /* of the pod, as the webhook counts; 0: it is no TPU group */
  JsonNode *chips_node;  /* the first that asks for some */
  QuoitCheckText accelerator, topology, machine, zone, region;

  QuoitGeneration generation; /* NONE: not known */
  gboolean has_shape;         /* the topology is one, of this generation if that is known */
  QuoitShape shape;
  gboolean has_facts;
  QuoitSliceFacts facts;
  GArray *params; /* of QuoitCheckParam */
};

struct _QuoitCheckCluster {
  JsonNode *document, *spec; /* spec: that of the RayCluster; NULL: there is none */
  const char *kind;
  gsize longest_name; /* that KubeRay takes */
  gboolean is_made;   /* by KubeRay, which appends six bytes to the name */
  QuoitCheckText name;
  GArray *groups;    /* of QuoitCheckGroup, the head first */
  GHashTable *names; /* of the groups: name -> the first group that has it */
};

/* Reads of the group what can be read, and says what cannot. */
void quoit_check_group_read (QuoitChecker *checker, JsonNode *node, gboolean is_head, QuoitCheckGroup *group);
void quoit_check_group_clear (QuoitCheckGroup *group);
void quoit_check_params_read (QuoitChecker *checker, QuoitCheckGroup *group);
void quoit_check_params_clear (QuoitCheckGroup *group);

/* The member of a map; NULL, and a finding, where @from is something else. */
JsonNode *quoit_check_member (QuoitChecker *checker, JsonNode *from, const char *name);

/* Whether @node has a variable that nobody gave a value: not wrong, but then a note is all that can be said of it. */
gboolean quoit_check_is_open (QuoitChecker *checker, JsonNode *node, const char *what);

/* Each of these says what is wrong and returns FALSE (NULL), @node being called @what; of a NULL @node nothing is said.
 */
gboolean quoit_check_text (QuoitChecker *checker, JsonNode *node, const char *what, const char **text);
gboolean quoit_check_count (QuoitChecker *checker, JsonNode *node, const char *what, gint64 *value);
gboolean quoit_check_quantity (QuoitChecker *checker, JsonNode *node, const char *what, QuoitAmount *amount);
JsonArray *quoit_check_array (QuoitChecker *checker, JsonNode *node, const char *what);

/* @what, the value of @node where that is one, and what was expected. */
void quoit_check_report (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                         const char *expected, ...) G_GNUC_PRINTF (5, 6);
/* The same out of @why, a message of the library that ends with what was expected; takes it. */
void quoit_check_report_error (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                               GError *why);

GArray *quoit_check_notices_new (void);
GArray *quoit_check_take_findings (QuoitChecker *checker); /* of QuoitFinding */

static inline const QuoitCheckGroup *
quoit_check_group_at (const QuoitCheckCluster *cluster, guint index)
{
  return &g_array_index (cluster->groups, QuoitCheckGroup, index);
}
