/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - what is found on threads of their own while the screen draws: each job has a header of its own. */
#ifndef CAIRN_VIEW_JOBS_JOBS_H
#define CAIRN_VIEW_JOBS_JOBS_H

#include "view/jobs/about_job.h"
#include "view/jobs/classes_job.h"
#include "view/jobs/path_job.h"
#include "view/jobs/retained_job.h"

#endif
