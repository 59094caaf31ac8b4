/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgresql/sql.h"

#include <glib.h>

/* The row of a fleet is its head: each append changes it, and so excludes other appends. The low fill factor leaves
 * room for new versions of the row on the same page. */
const char quoit_pg_schema[]
    = "CREATE SCHEMA IF NOT EXISTS quoit;"
      "CREATE TABLE IF NOT EXISTS quoit.version (number int NOT NULL);"
      "INSERT INTO quoit.version SELECT 1 WHERE NOT EXISTS (SELECT FROM quoit.version);"
      "CREATE TABLE IF NOT EXISTS quoit.fleet ("
      " id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,"
      " identity bytea NOT NULL CHECK (length(identity) = 16),"
      " seq bigint NOT NULL, chain bytea NOT NULL CHECK (length(chain) = 32),"
      " base bigint NOT NULL DEFAULT 0, term bigint NOT NULL DEFAULT 0, leader text) WITH (fillfactor = 10);"
      "CREATE TABLE IF NOT EXISTS quoit.journal ("
      " fleet int NOT NULL REFERENCES quoit.fleet, seq bigint NOT NULL, time_ms bigint NOT NULL, verb int NOT NULL,"
      " actor text, next_group bigint NOT NULL, next_node bigint NOT NULL, term bigint NOT NULL,"
      " chain bytea NOT NULL, effects bytea NOT NULL, PRIMARY KEY (fleet, seq));"
      "CREATE TABLE IF NOT EXISTS quoit.image ("
      " fleet int NOT NULL REFERENCES quoit.fleet, seq bigint NOT NULL, is_base boolean NOT NULL,"
      " made_ms bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (fleet, seq));"
      "ALTER TABLE quoit.image ALTER COLUMN bytes SET STORAGE EXTERNAL;";

#define NOW_MS "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const char *const quoit_pg_statements[N_PG] = {
  /* Changes the head only if it is still the one that the change was decided on, and only then writes the rows. */
  [PG_APPEND]
  = "WITH head AS (UPDATE quoit.fleet SET seq = $5, chain = $6"
    " WHERE id = $1 AND seq = $2 AND chain = $3 AND ($4::bigint = 0 OR term = $4)"
    " AND $7::bigint <= " NOW_MS " + " G_STRINGIFY (
        QUOIT_PG_MAX_AHEAD_MS) " RETURNING id, term),"
                               " rows AS (INSERT INTO quoit.journal"
                               " (fleet, seq, time_ms, verb, actor, next_group, next_node, term, chain, effects)"
                               " SELECT head.id, $2 + r.i, r.t, r.v, r.a, r.g, r.n, head.term, r.c, r.e FROM head,"
                               " unnest($8::bigint[], $9::int[], $10::text[], $11::bigint[], $12::bigint[], "
                               "$13::bytea[],"
                               " $14::bytea[]) WITH ORDINALITY r(t, v, a, g, n, c, e, i))"
                               " SELECT id FROM head",
  /* One statement, so that the entries and the head are of one moment. The length of effects is in their row, so that
   * it is known without reading them. */
  [PG_SINCE]
  = ("SELECT 0, seq, time_ms, verb, actor, next_group, next_node, chain, CASE WHEN seq >= $3 THEN effects END FROM"
     " (SELECT *, sum(octet_length(effects)) FILTER (WHERE seq >= $3) OVER (ORDER BY seq"
     " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS n_before FROM"
     " (SELECT * FROM quoit.journal WHERE fleet = $1 AND seq >= $2 ORDER BY seq"
     " LIMIT " G_STRINGIFY (
         QUOIT_PG_ROWS_AT_ONCE) ") rows) entries"
                                " WHERE coalesce(n_before, 0) < " G_STRINGIFY (
                                    QUOIT_PG_BYTES_AT_ONCE) ""
                                                            " UNION ALL SELECT 1, seq, " NOW_MS
                                                            ", 0, leader, term, base, chain, identity FROM quoit.fleet"
                                                            " WHERE id = $1 ORDER BY 1, 2"),
  [PG_LOCK] = "SELECT seq FROM quoit.fleet WHERE id = $1 FOR UPDATE",
  [PG_LEAD] = "UPDATE quoit.fleet SET term = term + 1, leader = $2 WHERE id = $1 RETURNING term",
  [PG_CHAIN_AT] = "SELECT chain FROM quoit.journal WHERE fleet = $1 AND seq = $2",
  [PG_IMAGE] = "SELECT bytes FROM quoit.image WHERE fleet = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1",
  [PG_BASE] = "SELECT seq, made_ms FROM quoit.image WHERE fleet = $1 AND is_base ORDER BY seq DESC LIMIT 1",
  [PG_IMAGES] = "SELECT seq, bytes FROM quoit.image WHERE fleet = $1 ORDER BY seq",
  [PG_IMAGE_INSERT] = "INSERT INTO quoit.image (fleet, seq, is_base, made_ms, bytes) VALUES ($1, $2, $3, $4, $5)"
                      " ON CONFLICT (fleet, seq) DO UPDATE SET is_base = excluded.is_base OR quoit.image.is_base,"
                      " made_ms = excluded.made_ms, bytes = excluded.bytes",
  [PG_IMAGES_DROP] = "DELETE FROM quoit.image WHERE fleet = $1 AND seq < $2",
  [PG_JOURNAL_DROP] = "DELETE FROM quoit.journal WHERE fleet = $1 AND seq <= $2",
  [PG_BASE_SET] = "UPDATE quoit.fleet SET base = $2 WHERE id = $1 AND base < $2"
                  " AND ($3::bigint = 0 OR term = $3) RETURNING base",
  [PG_TIME] = "SELECT time_ms FROM quoit.journal WHERE fleet = $1 AND seq = $2",
  [PG_ADD_ROWS] = "INSERT INTO quoit.journal"
                  " (fleet, seq, time_ms, verb, actor, next_group, next_node, term, chain, effects)"
                  " SELECT $1::int, $2::bigint + r.i, r.t, r.v, r.a, r.g, r.n, 0, r.c, r.e FROM"
                  " unnest($3::bigint[], $4::int[], $5::text[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bytea[])"
                  " WITH ORDINALITY r(t, v, a, g, n, c, e, i)",
  [PG_REWRITE_HEAD] = "UPDATE quoit.fleet SET seq = seq WHERE id = $1",
  [PG_SET_HEAD] = "UPDATE quoit.fleet SET seq = $2, chain = $3, identity = $4 WHERE id = $1 AND seq = 0",
  /* In parentheses, because clang takes the second line for an element without a comma. */
  [PG_FIRST_AFTER] = ("SELECT seq FROM quoit.journal WHERE fleet = $1 AND seq BETWEEN $2 AND $3 AND time_ms >= $4"
                      " ORDER BY seq LIMIT 1"),
};
