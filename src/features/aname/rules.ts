// The job that looks up the addresses of an ANAME target.

import type { JobKind } from '../../jobs/jobs.ts';

export interface FlattenJob {
  readonly targetId: number;
}

export const FLATTEN_ANAME: JobKind<FlattenJob> = {
  queue: 'flatten-aname',
  key: ({ targetId }) => `flatten:${targetId}`,
  connections: 2,
};
