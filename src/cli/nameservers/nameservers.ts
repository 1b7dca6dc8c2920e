// `zonefleet nameservers`: the records to publish for the names of the pool, and how many of its combinations are given.

import type { Command } from 'commander';
import { loadPoolUse } from '../../store/nameservers/pool-sets.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';
import { mostExclusive, type PoolUse, shareGiven, WARNING_SHARE } from '../../zone/pool/pool-use.ts';
import type { Cli } from '../terminal/cli.ts';
import type { Output } from '../terminal/output.ts';
import { poolRecords } from './pool-records.ts';

export function addNameserverCommand(program: Command, cli: Cli): void {
  program
    .command('nameservers')
    .description('the A, AAAA and glue records of the nameserver pool, and the share of it that is given')
    .action(async () => {
      await cli.withStore((db) => showPool(db, cli.output));
    });
}

async function showPool(db: Database, output: Output): Promise<number> {
  const { pool } = await loadPublishSettings(db);
  if (pool === undefined) {
    if (output.json) await output.print(JSON.stringify({ lists: [], combinations: null }));
    else
      await output.complain(
        'there is no pool: set NAMESERVER_POOL and NAMESERVER_ADDRESSES, then run zonefleet migrate',
      );
    return 1;
  }
  const use = await loadPoolUse(db, pool);
  if (output.json) {
    await output.print(JSON.stringify({ lists: poolRecords(pool), combinations: useJson(use) }));
    return 0;
  }
  await output.print(zoneText(pool));
  await output.print(`; ${useText(use)}`);
  if (shareGiven(use) >= WARNING_SHARE)
    await output.complain('the pool is nearly given: widen a list of NAMESERVER_POOL');
  return 0;
}

/** Lines for zone files; what is no record is a comment. */
function zoneText(pool: NameserverPool): string {
  const blocks = poolRecords(pool).map(({ names, addresses, records }, at) => [
    `; list ${at + 1}: ${names.length} names`,
    ...records,
    `; glue: register each of these names as a host with ${addresses.join(', ')} where its domain is registered`,
    '',
  ]);
  return blocks.flat().join('\n');
}

function useText(use: PoolUse): string {
  const percent = Math.floor(shareGiven(use) * 1000) / 10;
  return `${use.exclusive} of ${mostExclusive(use.total)} combinations are given to accounts (${percent} %), ${use.substitute} as substitutes, ${use.shared} are shared`;
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
