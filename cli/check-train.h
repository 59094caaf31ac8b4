/* SPDX-License-Identifier: Apache-2.0 */
/* `check train`: checks the settings of a MaxText job before it is submitted, with MaxText's own rules. */
#pragma once

#include "session.h"

typedef struct {
  char *accelerator, *topology, *slices, *chips_per_host, *workers, *worker_resources;
  char **configs;
  gboolean strict;
} TrainOptions;

void train_options_clear (TrainOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrainOptions, train_options_clear)
/* Returns the name of the first given option; NULL: none. */
const char *find_given_train_option (const TrainOptions *options);

/* The words of @session after "train" are MaxText settings. */
bool check_train (Session *session, const TrainOptions *options, GError **error);
