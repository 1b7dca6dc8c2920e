// Looks at the delegation of any name for anybody, which find no zone above it and ask nobody.

import { PublicChecks } from '../../../src/api/public/public-checks.ts';

export function workingPublicChecks(): PublicChecks {
  return new PublicChecks(
    async (domain) => ({
      domain,
      parent: undefined,
      walk: [],
      servers: [],
      parentAddresses: 0,
      failure: undefined,
      queries: 0,
      startedAt: 0,
      finishedAt: 0,
    }),
    { asksPerMinute: 1_000_000, startEveryMs: 0 },
  );
}
