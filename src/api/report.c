/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/report.h>
#include <quoit/models/systems.h>

#include "placement/constraint.h"
#include "placement/orders.h"

QuoitVerdict
quoit_report_get_verdict (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, QUOIT_VERDICT_NEVER);

  return report->verdict;
}

uint32_t
quoit_report_get_alternative (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->alternative;
}

uint32_t
quoit_report_get_n_alternatives (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->others == NULL ? 1 : report->others->len;
}

QuoitReport *
quoit_report_dup_alternative (QuoitReport *report, uint32_t alternative, GError **error)
{
  const QuoitOtherReport *other;

  g_return_val_if_fail (report != NULL && alternative < quoit_report_get_n_alternatives (report), NULL);

  if (report->others == NULL || alternative == report->alternative)
    return quoit_report_ref (report);
  other = &g_array_index (report->others, QuoitOtherReport, alternative);
  if (other->report != NULL)
    return quoit_report_ref (other->report);
  g_propagate_error (error, g_error_copy (other->error));
  return NULL;
}

uint32_t
quoit_report_get_n_wanted (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->n_wanted;
}

uint32_t
quoit_report_get_n_free_now (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->n_free_now;
}

uint32_t
quoit_report_get_n_possible (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->n_possible;
}

int64_t
quoit_report_get_bundle (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, -1);

  return report->is_for_bundles ? (int64_t) report->bundle : -1;
}

uint32_t
quoit_report_get_n_misses (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->misses->len;
}

static const QuoitMiss *
miss_at (const QuoitReport *report, uint32_t miss)
{
  g_return_val_if_fail (report != NULL && miss < report->misses->len, NULL);

  return &g_array_index (report->misses, QuoitMiss, miss);
}

const char *
quoit_report_get_miss_node (const QuoitReport *report, uint32_t miss)
{
  const QuoitMiss *at = miss_at (report, miss);

  return at == NULL ? NULL : at->node;
}

const char *
quoit_report_get_miss_resource (const QuoitReport *report, uint32_t miss)
{
  const QuoitMiss *at = miss_at (report, miss);

  return at == NULL ? NULL : at->resource;
}

QuoitAmount
quoit_report_get_miss_available (const QuoitReport *report, uint32_t miss)
{
  const QuoitMiss *row = miss_at (report, miss);

  return row == NULL ? (QuoitAmount) { 0 } : row->available;
}

QuoitAmount
quoit_report_get_miss_requested (const QuoitReport *report, uint32_t miss)
{
  const QuoitMiss *row = miss_at (report, miss);

  return row == NULL ? (QuoitAmount) { 0 } : row->requested;
}

QuoitRayAnswer
quoit_report_get_ray_answer (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, QUOIT_RAY_ANSWER_NONE);

  return report->ray_answer;
}

bool
quoit_report_can_ray_answer_vary (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, false);

  return report->ray_varies;
}

bool
quoit_report_is_proven (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, false);

  return !report->is_unproven;
}

char *
quoit_report_dup_summary (const QuoitReport *report, const char *what)
{
  g_return_val_if_fail (report != NULL && what != NULL, NULL);

  return quoit_report_summary (report, what);
}

uint32_t
quoit_report_get_n_reasons (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->reasons->len;
}

/* An index out of range is a programming error. */
static const QuoitReason *
reason_at (const QuoitReport *report, uint32_t reason)
{
  g_return_val_if_fail (report != NULL && reason < report->reasons->len, NULL);

  return &g_array_index (report->reasons, QuoitReason, reason);
}

const char *
quoit_constraint_get_name (QuoitConstraint constraint)
{
  guint position = quoit_constraint_position (constraint);

  return position == QUOIT_NO_CONSTRAINT ? "" : quoit_constraints[position].name;
}

QuoitConstraint
quoit_report_get_reason_constraint (const QuoitReport *report, uint32_t reason)
{
  const QuoitReason *row = reason_at (report, reason);

  return row == NULL ? (QuoitConstraint) 0 : row->constraint;
}

uint32_t
quoit_report_get_reason_before (const QuoitReport *report, uint32_t reason)
{
  const QuoitReason *row = reason_at (report, reason);

  return row == NULL ? 0 : row->before;
}

uint32_t
quoit_report_get_reason_after (const QuoitReport *report, uint32_t reason)
{
  const QuoitReason *row = reason_at (report, reason);

  return row == NULL ? 0 : row->after;
}

char *
quoit_report_dup_reason_text (const QuoitReport *report, uint32_t reason)
{
  return reason_at (report, reason) == NULL ? NULL : quoit_report_reason_text (report, reason);
}

uint32_t
quoit_report_get_n_options (const QuoitReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return quoit_report_options (report)->len;
}

static const GArray *
option_steps (const QuoitReport *report, uint32_t option)
{
  g_return_val_if_fail (report != NULL && option < quoit_report_options (report)->len, NULL);

  return g_array_index (quoit_report_options (report), QuoitOption, option).steps;
}

uint32_t
quoit_report_get_n_steps (const QuoitReport *report, uint32_t option)
{
  const GArray *steps = option_steps (report, option);

  return steps == NULL ? 0 : steps->len;
}

static const QuoitStep *
step_at (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const GArray *steps = option_steps (report, option);

  g_return_val_if_fail (steps != NULL && step < steps->len, NULL);

  return &g_array_index (steps, QuoitStep, step);
}

QuoitStepKind
quoit_report_get_step_kind (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? (QuoitStepKind) 0 : row->kind;
}

const char *
quoit_report_get_step_node (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? NULL : row->node;
}

const char *
quoit_report_get_step_group (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? NULL : row->group;
}

int64_t
quoit_report_get_step_until_ms (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? 0 : row->until_ms;
}

const char *
quoit_report_get_step_topology (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? NULL : row->topology;
}

uint32_t
quoit_report_get_step_chips_per_host (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? 0 : row->chips_per_host;
}

uint32_t
quoit_report_get_step_n_slices (const QuoitReport *report, uint32_t option, uint32_t step)
{
  const QuoitStep *row = step_at (report, option, step);

  return row == NULL ? 0 : row->n_slices;
}

const char *
quoit_option_order_get_name (QuoitOptionOrder order)
{
  static const char *const names[] = { [QUOIT_OPTION_ORDER_EARLIEST] = "earliest",
                                       [QUOIT_OPTION_ORDER_FEWEST_GROUPS] = "fewest-groups",
                                       [QUOIT_OPTION_ORDER_FEWEST_CHIPS] = "fewest-chips" };

  return (guint) order < G_N_ELEMENTS (names) && names[order] != NULL ? names[order] : "";
}

static gboolean
is_order (QuoitOptionOrder order)
{
  return *quoit_option_order_get_name (order) != '\0';
}

int64_t
quoit_report_find_option (const QuoitReport *report, QuoitOptionOrder order)
{
  guint option;

  g_return_val_if_fail (report != NULL && is_order (order), -1);

  option = quoit_report_best_option (report, order);
  return option == QUOIT_NO_INDEX ? -1 : (int64_t) option;
}

bool
quoit_report_is_option_best (const QuoitReport *report, QuoitOptionOrder order)
{
  g_return_val_if_fail (report != NULL && is_order (order), false);

  return quoit_report_best_option (report, order) != QUOIT_NO_INDEX
         && (report->proven_orders & quoit_order_bit (order)) != 0;
}

int64_t
quoit_report_get_option_time_ms (const QuoitReport *report, uint32_t option)
{
  return option_steps (report, option) == NULL ? 0 : quoit_report_option_cost (report, option).time_ms;
}

uint32_t
quoit_report_get_option_n_groups (const QuoitReport *report, uint32_t option)
{
  return option_steps (report, option) == NULL ? 0 : quoit_report_option_cost (report, option).n_groups;
}

QuoitAmount
quoit_report_get_option_chips (const QuoitReport *report, uint32_t option)
{
  return (QuoitAmount) { option_steps (report, option) == NULL
                             ? 0
                             : (gint64) quoit_report_option_cost (report, option).chips_e4 };
}

char *
quoit_report_dup_option_text (const QuoitReport *report, uint32_t option)
{
  return option_steps (report, option) == NULL ? NULL : quoit_report_option_text (report, option);
}
