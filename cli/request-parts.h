/* SPDX-License-Identifier: Apache-2.0 */
/* The options after --else and --with. */
#pragma once

#include "request.h"
#include "session.h"

/* What follows one --else or --with. */
typedef struct {
  bool is_member; /* of --with */
  char *name;     /* of its group; NULL for --else */
  char **words;   /* NULL: none */
  RequestOptions options;
} RequestPart;

typedef struct {
  bool accepts_members; /* the verb has --with */
  bool accepts_dry_run; /* the verb has --dry-run */
  GPtrArray *list;      /* of RequestPart */
} RequestParts;

void request_parts_clear (RequestParts *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RequestParts, request_parts_clear)

/* Removes the parts from session->words. Call it before session_parse(). */
bool request_parts_take (RequestParts *parts, Session *session, GError **error);
/* Parses the parts. Call it after session_parse(), which handles --help. Sets the dry run of @options if a part has
 * --dry-run. */
bool request_parts_parse (RequestParts *parts, Session *session, RequestOptions *options, GError **error);

/* Completes the short names of groups after --near, see group-names.h, in the parts and in @options. @snapshot: where
 * the groups are; NULL: in the ledger of the session, which is read only if one of these names is short. */
bool request_parts_complete_near (const RequestParts *parts, RequestOptions *options, Session *session,
                                  const QuoitSnapshot *snapshot, GError **error);

/* Adds the alternatives of the first group. */
bool request_parts_add_alternatives (const RequestParts *parts, const char *name, QuoitRequest *request,
                                     GError **error);
/* Returns the requests of --with, with their alternatives. @options: those of the first group. */
GPtrArray *request_parts_build_members (const RequestParts *parts, const RequestOptions *options, GError **error);
