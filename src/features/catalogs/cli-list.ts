// Lists catalogs of both roles and their members, and removes them.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { Listing, type Output } from '../../cli/terminal/output.ts';
import { parseZoneName } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { listConsumedMembers, loadConsumers, removeConsumer } from './sql-consumers.ts';
import { listMembers, loadProducers, roleOf } from './sql-list.ts';
import { removeProducer } from './sql-manage.ts';

const NO_CATALOG = 'no such catalog';
/** States that need an operator. */
const FAULTY: readonly string[] = ['full', 'held', 'broken'];

export async function listCatalogs(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const producers = (await loadProducers(db)).map((each) => ({ ...each, role: 'producer' as const }));
    const consumers = (await loadConsumers(db)).map((each) => ({ role: 'consumer' as const, ...each }));
    const catalogs = [...producers, ...consumers];
    if (output.json) {
      const shown = [
        ...producers.map((each) => ({
          catalog: each.catalog,
          role: each.role,
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
        ...consumers,
      ];
      await output.print(JSON.stringify({ catalogs: shown }));
    } else {
      const rows = catalogs.map((each) => [
        ...[each.catalog, each.role, each.state, each.members],
        each.role === 'producer' ? selectionOf(each) : `from ${each.from.join(' ')}`,
        each.findings.map(({ code, message }) => `${code}: ${message}`).join('; ') || '-',
      ]);
      await output.print(printTable(['CATALOG', 'ROLE', 'STATE', 'MEMBERS', 'ZONES', 'FINDINGS'], rows));
    }
    return catalogs.some(({ state }) => FAULTY.includes(state)) ? 1 : 0;
  });
}

function selectionOf({ selects, accountId }: Awaited<ReturnType<typeof loadProducers>>[number]): string {
  if (selects === 'account') return `account=${accountId}`;
  return selects ?? 'by hand';
}

export async function listMembersOf(cli: Cli, text: string): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const { output } = cli;
  await cli.withStore(async (db) => {
    const role = await roleOf(db, name);
    if (role === undefined) return await output.refuse({ catalog: name }, NO_CATALOG);
    const print = role === 'consumer' ? printConsumedMembers : printMembers;
    await print(db, output, name);
    return 0;
  });
}

async function printMembers(db: Database, output: Output, name: string): Promise<void> {
  const listing = new Listing(output, 'members');
  let members = 0;
  for await (const { zone, label, group, movesTo } of listMembers(db, name)) {
    members++;
    const details = [
      label ?? 'not listed: nodes do not serve it whole',
      ...(group === null ? [] : [`group ${group}`]),
      ...(movesTo === null ? [] : [`moves to ${movesTo}`]),
    ];
    const lines = [`${zone}  ${details.join('  ')}`];
    await listing.add({ json: { zone, label, group, moves_to: movesTo }, lines });
    if (output.closed) break;
  }
  await listing.end({ summary: { members } });
}

async function printConsumedMembers(db: Database, output: Output, name: string): Promise<void> {
  const listing = new Listing(output, 'members');
  const counts = { copied: 0, skipped: 0 };
  for await (const { zone, label, group, serial, skipped } of listConsumedMembers(db, name)) {
    counts[skipped === null ? 'copied' : 'skipped']++;
    const copy = serial === null ? 'not transferred yet' : `serial ${serial}`;
    const details = [
      label,
      ...(group === null ? [] : [`group ${group}`]),
      skipped === null ? copy : `not copied: ${skipped}`,
    ];
    const lines = [`${zone}  ${details.join('  ')}`];
    await listing.add({ json: { zone, label, group, serial, skipped }, lines });
    if (output.closed) break;
  }
  await listing.end({ summary: counts });
}

/** For catalogs of other operators. */
export interface RemoveOptions {
  readonly keepMembers?: true;
  readonly unloadMembers?: true;
}

export async function removeCatalog(
  cli: Cli,
  text: string,
  { keepMembers, unloadMembers }: RemoveOptions,
): Promise<void> {
  if (keepMembers && unloadMembers)
    throw new Failure('usage', 'expected either --keep-members or --unload-members');
  const name = encodeNameColumn(parseZoneName(text));
  const members = keepMembers ? 'keep' : unloadMembers ? 'unload' : undefined;
  const { output } = cli;
  await cli.withStore(async (db) => {
    const removed = await cli.audited(db, 'catalog.remove', async (trx, tell) => {
      const isConsumed = (await roleOf(trx, name)) === 'consumer';
      if (!isConsumed && members !== undefined) return { kind: 'produced' } as const;
      const done = isConsumed
        ? await removeConsumer(trx, name, members, cli.actor())
        : await removeProducer(trx, name, cli.actor());
      if (done.kind === 'removed') tell({ target: { name } });
      return done;
    });
    if (removed.kind === 'absent') return await output.refuse({ catalog: name }, NO_CATALOG);
    if (removed.kind === 'produced')
      return await output.refuse({ catalog: name }, `this fleet does not copy it: omit --${members}-members`);
    if (removed.kind === 'removed') return await output.done({ catalog: name }, 'removed');
    const choice = 'add --keep-members or --unload-members';
    return await output.refuse({ catalog: name }, `has ${removed.members} members: ${choice}`);
  });
}
