/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the comparison of an object with its schema share. */
#pragma once

#include "formats/check-schema.h"
#include "formats/schema/value.h"

/* A value on the way from the object to the value that is compared. */
typedef struct _QuoitPlace QuoitPlace;
struct _QuoitPlace {
  const QuoitPlace *parent; /* NULL: the object itself */
  JsonNode *node;
  const char *name; /* of a member; NULL: an element */
  guint index;      /* of an element */
  const QuoitSchemaType *type;
};

typedef struct {
  QuoitChecker *checker;
  const QuoitSchemaKind *kind; /* NULL: parts of a kind without schema */
  QuoitSchemaReader reader;
  gboolean has_group_rules; /* the object is read by the rules about Ray's groups */
  gboolean is_pod;      /* the object was compared already: now it is compared with the pods that are made from it */
  gboolean has_pods;    /* pods of a kind without schema: their values are refused later than their fields */
  gboolean is_status;   /* the API server drops the values of a status, but refuses fields that it does not know */
  GHashTable *patterns; /* text -> GRegex */
  GHashTable *missing;  /* fields that were reported as missing: "NODE NAME" */
} QuoitComparison;

/* Returns the name of a value for messages: "replicas", or "containers[0]". Free it with g_free(). */
char *quoit_place_name (const QuoitPlace *place);

/* Returns @rule, or the rule pod-field if pods are compared. */
const QuoitCheckRule *quoit_comparison_rule (const QuoitComparison *comparison, QuoitCheckSchemaRule rule);
/* Reports a value that is of its type, but not allowed. */
void quoit_comparison_report (const QuoitComparison *comparison, const QuoitPlace *place, const char *expected, ...)
    G_GNUC_PRINTF (3, 4);
/* Reports a map whose members do not go together. */
void quoit_comparison_report_map (const QuoitComparison *comparison, const QuoitPlace *place, const char *expected, ...)
    G_GNUC_PRINTF (3, 4);

/* Returns whether Kubernetes' own types are compared, and not a CustomResourceDefinition. */
static inline gboolean
quoit_comparison_is_native (const QuoitComparison *comparison)
{
  return comparison->reader == QUOIT_SCHEMA_NATIVE || comparison->is_pod;
}

/* Returns whether a rule about Ray's groups reports that the field is missing. */
gboolean quoit_comparison_has_own_rule (const QuoitComparison *comparison, const QuoitPlace *place, const char *name);

/* Checks the constraints of the type of @place. @scalar is its value. */
void quoit_comparison_check_constraints (QuoitComparison *comparison, const QuoitPlace *place,
                                         const QuoitScalar *scalar);
/* Checks the members of an object that depend on each other, for the constraints of one type. */
void quoit_comparison_check_object (QuoitComparison *comparison, const QuoitPlace *place,
                                    QuoitSchemaConstraintKind kind);
/* Compares a pod template with the pods that Kubernetes makes from it. */
void quoit_comparison_check_pods (const QuoitComparison *comparison, const QuoitPlace *place,
                                  const QuoitSchemaType *type);
