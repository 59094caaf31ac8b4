/* SPDX-License-Identifier: Apache-2.0 */
/* libpq, loaded when a ledger in PostgreSQL is first opened. A program that uses none needs no libpq. */
#pragma once

#include <libpq-fe.h>

#include "base/error.h"

#define QUOIT_PQ_FUNCTIONS(F)                                                                                          \
  F (PQconnectStartParams)                                                                                             \
  F (PQconnectPoll)                                                                                                    \
  F (PQfinish)                                                                                                         \
  F (PQstatus)                                                                                                         \
  F (PQsocket)                                                                                                         \
  F (PQbackendPID)                                                                                                     \
  F (PQserverVersion)                                                                                                  \
  F (PQerrorMessage)                                                                                                   \
  F (PQsetnonblocking)                                                                                                 \
  F (PQsetNoticeReceiver)                                                                                              \
  F (PQsendQuery)                                                                                                      \
  F (PQsendQueryParams)                                                                                                \
  F (PQsendQueryPrepared)                                                                                              \
  F (PQsendPrepare)                                                                                                    \
  F (PQenterPipelineMode)                                                                                              \
  F (PQexitPipelineMode)                                                                                               \
  F (PQpipelineSync)                                                                                                   \
  F (PQflush)                                                                                                          \
  F (PQisBusy)                                                                                                         \
  F (PQconsumeInput)                                                                                                   \
  F (PQgetResult)                                                                                                      \
  F (PQnotifies)                                                                                                       \
  F (PQfreemem)                                                                                                        \
  F (PQgetCancel)                                                                                                      \
  F (PQcancel)                                                                                                         \
  F (PQfreeCancel)                                                                                                     \
  F (PQresultStatus)                                                                                                   \
  F (PQresultErrorField)                                                                                               \
  F (PQresultErrorMessage)                                                                                             \
  F (PQntuples)                                                                                                        \
  F (PQgetvalue)                                                                                                       \
  F (PQgetlength)                                                                                                      \
  F (PQgetisnull)                                                                                                      \
  F (PQclear)                                                                                                          \
  F (PQconninfoParse)                                                                                                  \
  F (PQconninfoFree)

#define QUOIT_PQ_MEMBER(name) __typeof__ (name) *name; /* NOLINT: a declaration */
typedef struct {
  QUOIT_PQ_FUNCTIONS (QUOIT_PQ_MEMBER)
} QuoitPq;

/* Returns the functions of libpq. Fails with STORE if it is not installed, or older than version 14. */
const QuoitPq *quoit_pq_load (GError **error);
