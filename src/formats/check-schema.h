/* SPDX-License-Identifier: Apache-2.0 */
/* The rules about kinds and their schemas: what the API server refuses before any controller reads an object. */
#pragma once

#include "formats/check-rules.h"
#include "formats/schema/tables.h"

/* Indexes into quoit_check_schema_rules. */
typedef enum {
  QUOIT_CHECK_RULE_FIELD_UNKNOWN,
  QUOIT_CHECK_RULE_FIELD_MISSING,
  QUOIT_CHECK_RULE_FIELD_VALUE,
  QUOIT_CHECK_RULE_FIELD_RANGE, /* accepted by the API server, but not by KubeRay */
  QUOIT_CHECK_RULE_POD_FIELD,   /* accepted in the object, but refused in the pods that are made from it */
  QUOIT_CHECK_RULE_KIND_UNKNOWN,
  QUOIT_CHECK_RULE_OBJECT_NAME
} QuoitCheckSchemaRule;

/* Compares @object with the schema of @kind, which has one, and reports what differs. */
void quoit_check_compare (QuoitChecker *checker, JsonNode *object, const QuoitSchemaKind *kind);

/* The same for parts of an object whose kind has no schema here: its metadata, and the pod templates at @path, such as
   "spec.podSets[].template". */
void quoit_check_compare_metadata (QuoitChecker *checker, JsonNode *object);
void quoit_check_compare_pods (QuoitChecker *checker, JsonNode *object, const char *path);

/* Compares the job templates at @path with those of @cron_job, the schema of a CronJob: only the names and types of
 * their fields, because a controller may set what is missing, and other rules know what goes together. */
void quoit_check_compare_jobs (QuoitChecker *checker, JsonNode *object, const char *path,
                               const QuoitSchemaKind *cron_job);
