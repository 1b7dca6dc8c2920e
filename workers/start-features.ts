// Starts the jobs and rounds of every feature.

import { FEATURES } from '../src/features/every-feature.ts';
import type { WorkTools } from '../src/features/feature.ts';
import type { RunningJobs } from '../src/jobs/run-jobs.ts';
import type { Rounds } from '../src/jobs/run-rounds.ts';

/** Returns the rounds. `jobs` stops the jobs. */
export async function startFeatures(jobs: RunningJobs, tools: WorkTools): Promise<Rounds> {
  const started: Rounds[] = [];
  for (const feature of FEATURES) {
    for (const open of (await feature.jobs?.()) ?? []) {
      const job = await open(tools);
      if (job !== undefined) jobs.start(job);
    }
    for (const start of (await feature.rounds?.()) ?? []) {
      const rounds = start(tools);
      if (rounds !== undefined) started.push(rounds);
    }
  }
  return {
    async stop() {
      await Promise.all(started.map((rounds) => rounds.stop()));
    },
  };
}
