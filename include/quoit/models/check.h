/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a manifest before it is applied. It needs no fleet, no database and no cluster. */
#ifndef QUOIT_CHECK_H
#define QUOIT_CHECK_H

#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitCheck:
 *
 * The findings in one file. Immutable; any thread can read it.
 */
typedef struct _QuoitCheck QuoitCheck;

/**
 * QuoitSeverity:
 *
 * How serious a finding is. Callers must accept unknown values.
 */
typedef enum {
  QUOIT_SEVERITY_ERROR = 1,   /* a system that reads the manifest refuses it, or the manifest contradicts itself */
  QUOIT_SEVERITY_WARNING = 2, /* every system accepts it, but it does not have the intended effect */
  QUOIT_SEVERITY_NOTE = 3     /* nothing is wrong; something was not checked, or is unusual */
} QuoitSeverity;

/**
 * quoit_check_manifest:
 * @text: YAML with any number of documents
 * @length: bytes of @text
 * @variables: (nullable) (array zero-terminated=1): "NAME=value" for each ${NAME} in @text; %NULL for none
 *
 * Checks RayClusters, RayJobs and RayServices, other objects that make pods (JobSets, LeaderWorkerSets, Jobs, Pods),
 * Kueue's queues and flavors, GKE's Slices and ComputeClasses, and the ResourceClaims, ResourceClaimTemplates and Lists
 * that they need. Every field of Ray's kinds and of common kinds of Kubernetes is compared with the schema of the kind.
 * A note reports each object of another kind ("kind-unread"). The findings are what Kubernetes 1.35.4, KubeRay 1.7.0 or
 * its TPU webhook would refuse, and what they accept although it cannot work: one finding for each rule and place,
 * ordered by line and column. After 10000 findings the check stops and adds a finding about that. A value that depends
 * on a variable without a value is not checked; a finding reports this too.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML (the message begins with line and column), when an entry of
 * @variables is not "NAME=value", or when two entries have the same name. A wrong manifest is not a failure.
 *
 * Returns: (transfer full): the findings; quoit_check_free() it. %NULL on failure
 */
QUOIT_API QuoitCheck *quoit_check_manifest (const char *text, size_t length, const char *const *variables,
                                            GError **error);

/**
 * quoit_check_free:
 * @check: (nullable): the findings
 *
 * Frees @check and all texts borrowed from it.
 */
QUOIT_API void quoit_check_free (QuoitCheck *check);

/**
 * quoit_check_get_n_findings:
 *
 * Returns: the number of findings
 */
QUOIT_API uint32_t quoit_check_get_n_findings (const QuoitCheck *check);

/**
 * quoit_check_get_line:
 * @finding: below quoit_check_get_n_findings()
 *
 * The position is that of the field's key, or of the map that lacks the key.
 *
 * Returns: the line, from 1
 */
QUOIT_API uint32_t quoit_check_get_line (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_column:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: the column, in characters from 1
 */
QUOIT_API uint32_t quoit_check_get_column (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_severity:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: the severity
 */
QUOIT_API QuoitSeverity quoit_check_get_severity (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_rule:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns the name of the broken rule, for example "numofhosts-topology". A name never changes its meaning; later
 * versions can add names.
 *
 * Returns: (transfer none): one of quoit_check_rule_get_name()
 */
QUOIT_API const char *quoit_check_get_rule (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_path:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns the path of the place within its document: "$.spec.workerGroupSpecs[0].numOfHosts". If aliases repeat the
 * place, it is the path of one of them.
 *
 * Returns: (transfer none): the path
 */
QUOIT_API const char *quoit_check_get_path (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_value:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns the value as the file has it. It can contain any UTF-8 bytes and is cut after 1024 bytes.
 *
 * Returns: (transfer none) (nullable): the value; %NULL if it is missing, or is a list or map
 */
QUOIT_API const char *quoit_check_get_value (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_expected:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: (transfer none): a description of the expected value
 */
QUOIT_API const char *quoit_check_get_expected (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_message:
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns the field, the value and what was expected as one line without the place: "numOfHosts '3': expected 4, which
 * ...". Values are quoted, long values are cut, and control bytes are escaped.
 *
 * Returns: (transfer none): the message
 */
QUOIT_API const char *quoit_check_get_message (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_rule_get_name:
 * @index: 0 for the first
 *
 * Lists the rules. Call it with @index 0, 1, ... until it returns %NULL; later versions can add rules at any index.
 *
 * Returns: (transfer none) (nullable): the name of the rule; %NULL after the last
 */
QUOIT_API const char *quoit_check_rule_get_name (uint32_t index);

/**
 * quoit_check_rule_get_severity:
 * @index: index of an existing rule
 *
 * Returns: the severity of every finding of that rule
 */
QUOIT_API QuoitSeverity quoit_check_rule_get_severity (uint32_t index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitCheck, quoit_check_free)

G_END_DECLS

#endif
