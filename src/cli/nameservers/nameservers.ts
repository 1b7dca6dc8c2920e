// `zonefleet nameservers`: prints the records to publish for the names of the pool, the number of assigned combinations, and
// whether the published data matches the configuration.

import type { Command } from 'commander';
import { loadPoolUse } from '../../store/claims/pool-sets.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';
import { mostExclusive, type PoolUse, shareGiven, WARNING_SHARE } from '../../zone/pool/pool-use.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { poolRecords } from './pool-records.ts';

export function addNameserverCommand(program: Command, cli: Cli): void {
  commandOf(program, 'nameservers')
    .option('--no-check', 'skip the check of names, glue and nodes')
    .action(async ({ check }: { check: boolean }) => {
      await cli.withStore((db) => showPool(db, check, cli));
    });
}

async function showPool(db: Database, wantsCheck: boolean, cli: Cli): Promise<number> {
  const { output } = cli;
  const { pool } = await loadPublishSettings(db);
  if (pool === undefined) {
    if (output.json) await output.print(JSON.stringify({ lists: [], combinations: null, check: null }));
    else await output.complain(NO_POOL);
    return 1;
  }
  const use = await loadPoolUse(db, pool);
  if (!output.json) {
    await output.print(`${zoneText(pool)}; ${useText(use)}`);
    if (shareGiven(use) >= WARNING_SHARE) {
      await output.complain('almost all of the pool is assigned: extend a list in NAMESERVER_POOL');
    }
  }
  const { checkPool } = await import('./check-pool.ts');
  const checked = wantsCheck ? await checkPool(db, pool, cli) : null;
  if (checked === undefined) return INTERRUPTED;
  if (output.json) {
    const lists = poolRecords(pool);
    await output.print(JSON.stringify({ lists, combinations: useJson(use), check: checked }));
  } else if (checked !== null) {
    for (const { address, reason } of checked.skipped)
      await output.print(`; not queried: ${address}: ${reason}`);
    for (const { of, message } of checked.faults) await output.complain(`${of}: ${message}`);
    if (checked.faults.length === 0) await output.print('; names, glue and nodes match NAMESERVER_POOL');
  }
  return checked === null || checked.faults.length === 0 ? 0 : 1;
}

const NO_POOL = 'there is no pool: set NAMESERVER_POOL and NAMESERVER_ADDRESSES, then run zonefleet migrate';

/** Prints zone file lines. All other lines are comments. */
function zoneText(pool: NameserverPool): string {
  const blocks = poolRecords(pool).map(({ names, addresses, records }, at) => [
    `; list ${at + 1}: ${names.length} names`,
    ...records,
    `; glue: register each of these names as a host with ${addresses.join(', ')} where its domain is registered`,
    '',
  ]);
  return blocks
    .flat()
    .map((line) => `${line}\n`)
    .join('');
}

function useText(use: PoolUse): string {
  const percent = Math.floor(shareGiven(use) * 1000) / 10;
  return `${use.exclusive} of ${mostExclusive(use.total)} combinations are assigned to accounts (${percent} %), ${use.substitute} as substitutes; ${use.shared} are shared`;
}

function useJson(use: PoolUse): object {
  return {
    total: use.total,
    for_accounts: mostExclusive(use.total),
    exclusive: use.exclusive,
    substitutes: use.substitute,
    shared: use.shared,
    share_given: shareGiven(use),
  };
}
