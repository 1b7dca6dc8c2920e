// Lists catalogs of both roles and their members, and removes them.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Listing, type Output } from '../../cli/terminal/output.ts';
import { parseZoneName } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import type { RemoveOptions } from './cli-consume.ts';
import { loadConsumers } from './sql-consumers.ts';
import { listMembers, loadProducers, roleOf } from './sql-list.ts';
import { removeProducer } from './sql-manage.ts';

const NO_CATALOG = 'no such catalog';
/** States that need an operator. */
const FAULTY: readonly string[] = ['full', 'held', 'broken'];

export async function listCatalogs(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const producers = await loadProducers(db);
    const consumers = await loadConsumers(db);
    if (output.json) {
      const catalogs = [
        ...producers.map((each) => ({
          catalog: each.catalog,
          role: 'producer',
          state: each.state,
          members: each.members,
          max_members: each.maxMembers,
          select: each.selects,
          account_id: each.accountId,
          policy: each.policy,
          group_by_policy: each.isGroupedByPolicy,
          serial: each.serial,
          findings: each.findings,
        })),
        ...consumers.map((each) => ({ role: 'consumer', ...each })),
      ];
      await output.print(JSON.stringify({ catalogs }));
    } else {
      const rows = [
        ...producers.map((each) => [
          ...[each.catalog, 'producer', each.state, each.members],
          selectionOf(each),
          each.findings.map(({ code, message }) => `${code}: ${message}`).join('; ') || '-',
        ]),
        ...consumers.map((each) => [
          ...[each.catalog, 'consumer', each.state, each.members],
          `from ${each.from.join(' ')}`,
          each.findings.map(({ code, message }) => `${code}: ${message}`).join('; ') || '-',
        ]),
      ];
      await output.print(printTable(['CATALOG', 'ROLE', 'STATE', 'MEMBERS', 'ZONES', 'FINDINGS'], rows));
    }
    return [...producers, ...consumers].some(({ state }) => FAULTY.includes(state)) ? 1 : 0;
  });
}

function selectionOf({ selects, accountId }: Awaited<ReturnType<typeof loadProducers>>[number]): string {
  if (selects === 'account') return `account=${accountId}`;
  return selects ?? 'by hand';
}

export async function listMembersOf(cli: Cli, text: string): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const { output } = cli;
  let isConsumed = false;
  await cli.withStore(async (db) => {
    const role = await roleOf(db, name);
    isConsumed = role === 'consumer';
    if (role === undefined) return await output.refuse({ catalog: name }, NO_CATALOG);
    return isConsumed ? 0 : await printMembers(db, output, name);
  });
  if (isConsumed) await (await import('./cli-consume.ts')).printConsumedMembers(cli, text);
}

async function printMembers(db: Database, output: Output, name: string): Promise<0> {
  const listing = new Listing(output, 'members');
  let count = 0;
  for await (const { zone, label, group, movesTo } of listMembers(db, name)) {
    count++;
    const details = [
      label ?? 'not listed: nodes do not serve it whole',
      ...(group === null ? [] : [`group ${group}`]),
      ...(movesTo === null ? [] : [`moves to ${movesTo}`]),
    ];
    const lines = [`${zone}  ${details.join('  ')}`];
    await listing.add({ json: { zone, label, group, moves_to: movesTo }, lines });
    if (output.closed) break;
  }
  await listing.end({ summary: { members: count } });
  return 0;
}

export async function removeCatalog(cli: Cli, text: string, options: RemoveOptions): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const { output } = cli;
  let isConsumed = false;
  await cli.withStore(async (db) => {
    isConsumed = (await roleOf(db, name)) === 'consumer';
    if (isConsumed) return 0;
    const isRemoved = await cli.audited(db, 'catalog.remove', async (trx, tell) => {
      const done = await removeProducer(trx, name, cli.actor());
      if (done) tell({ target: { name } });
      return done;
    });
    if (!isRemoved) return await output.refuse({ catalog: name }, NO_CATALOG);
    return await output.done({ catalog: name }, 'removed');
  });
  if (isConsumed) await (await import('./cli-consume.ts')).removeConsumed(cli, text, options);
}
