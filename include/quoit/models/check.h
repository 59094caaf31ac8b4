/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a manifest, before it is applied. No fleet, no database, no cluster is asked. */
#ifndef QUOIT_CHECK_H
#define QUOIT_CHECK_H

#include <stddef.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitCheck:
 *
 * What was found in one file. Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitCheck QuoitCheck;

/**
 * QuoitSeverity:
 *
 * What a finding means for whoever applies the manifest. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_SEVERITY_ERROR = 1,   /* a system that reads it refuses it, or it contradicts itself */
  QUOIT_SEVERITY_WARNING = 2, /* every system takes it, and it does not do what it says */
  QUOIT_SEVERITY_NOTE = 3     /* nothing is wrong; something was not looked at, or is unusual */
} QuoitSeverity;

/**
 * quoit_check_manifest:
 * @text: YAML with any number of documents
 * @length: bytes of @text
 * @variables: (nullable) (array zero-terminated=1): "NAME=value" for each ${NAME} in it; %NULL for none
 * @error: (out) (optional): set on failure
 *
 * Reads RayClusters, RayJobs, RayServices and what these need of ResourceClaims, ResourceClaimTemplates and Lists;
 * passes over documents of other kinds. Finds all that Kubernetes, KubeRay 1.7.0 or its TPU webhook would refuse, and
 * what they let through although it cannot work: one finding for each rule and place, in the order of lines and
 * columns. Behind 10000 findings it stops, and says so in a finding. What depends on a variable without a value is not
 * looked at; a finding says that too.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML (the message begins with line and column) or @variables are
 * not such texts, or name one twice. A manifest that is wrong is no failure.
 *
 * Returns: (transfer full): what was found; quoit_check_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitCheck *quoit_check_manifest (const char *text, size_t length, const char *const *variables,
                                            GError **error);

/**
 * quoit_check_free:
 * @check: (nullable): what was found
 *
 * Since: 0.1
 */
QUOIT_API void quoit_check_free (QuoitCheck *check);

/**
 * quoit_check_get_n_findings:
 * @check: what was found
 *
 * Returns: how many findings there are
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_check_get_n_findings (const QuoitCheck *check);

/**
 * quoit_check_get_line:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * Where it is: at the key of the field, or at the map that lacks one.
 *
 * Returns: the line, from 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_check_get_line (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_column:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: the column, in characters from 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_check_get_column (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_severity:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: what it means
 * Since: 0.1
 */
QUOIT_API QuoitSeverity quoit_check_get_severity (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_rule:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * The name of the rule that it breaks, "numofhosts-topology". Names never change their meaning; new ones may come.
 *
 * Returns: (transfer none): one of quoit_check_rule_get_name()
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_get_rule (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_path:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * The way to the place within its document: "$.spec.workerGroupSpecs[0].numOfHosts". Where aliases repeat a place, the
 * way to one of them.
 *
 * Returns: (transfer none): the path
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_get_path (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_value:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * What stands there, as it is written in the file, of which it may have any bytes that are UTF-8; cut after 1024.
 *
 * Returns: (transfer none) (nullable): the value; %NULL where it is missing, or a list or map
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_get_value (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_expected:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * Returns: (transfer none): what should stand there, in words
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_get_expected (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_get_message:
 * @check: what was found
 * @finding: below quoit_check_get_n_findings()
 *
 * Field, value and expectation as one line without the place: "numOfHosts '3': expected 4, which ...". Values in it are
 * quoted, their control bytes escaped, and cut.
 *
 * Returns: (transfer none): the sentence
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_get_message (const QuoitCheck *check, uint32_t finding);

/**
 * quoit_check_rule_get_name:
 * @index: 0 for the first
 *
 * The rules that there are. Count up until %NULL; new ones may come at any place.
 *
 * Returns: (transfer none) (nullable): the name of the rule; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_check_rule_get_name (unsigned index);

/**
 * quoit_check_rule_get_severity:
 * @index: of a rule that there is
 *
 * Returns: the severity of every finding of that rule
 * Since: 0.1
 */
QUOIT_API QuoitSeverity quoit_check_rule_get_severity (unsigned index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitCheck, quoit_check_free)

G_END_DECLS

#endif
