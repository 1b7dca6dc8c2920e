// Checks from this machine that the pool's nameservers are published, delegated and answering as configured.

import { judgePool, type PoolFault } from '../../checks/nameservers/judge-pool.ts';
import type { AddressEvidence } from '../../checks/nameservers/pool-evidence.ts';
import { loadServedZone } from '../../store/claims/pool-sets.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';
import type { Cli } from '../terminal/cli.ts';
import { observeFromHere } from '../terminal/observe-from-here.ts';

interface CheckedPool {
  readonly faults: readonly PoolFault[];
  /** Addresses that could not be queried from this machine. */
  readonly skipped: readonly AddressEvidence[];
}

/** Returns undefined if interrupted. */
export async function checkPool(
  db: Database,
  pool: NameserverPool,
  cli: Cli,
): Promise<CheckedPool | undefined> {
  const signal = cli.interruptible();
  const observed = {
    names: pool.lists.flat(),
    addresses: pool.addresses.flat(),
    served: await loadServedZone(db),
  };
  const evidence = await observeFromHere({ settings: await cli.settings(), signal }, (resolver) =>
    resolver.observePool(observed, { signal }),
  );
  if (evidence === undefined) return undefined;
  const skipped = evidence.addresses.filter(({ outcome }) => outcome === 'skipped');
  return { faults: judgePool(pool, evidence), skipped };
}
