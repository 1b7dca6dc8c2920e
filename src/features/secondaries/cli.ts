// `zonefleet secondary …` and `zone retransfer`: zones that are copied from a primary.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { Listing } from '../../cli/terminal/output.ts';
import { parseZoneName } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { MOST_PRIMARIES } from './rules.ts';
import type { ListedSecondary } from './sql-manage.ts';

const MOST_RECORDS = 2 ** 31 - 1;

interface AddOptions {
  readonly from: readonly string[];
  readonly maxRecords?: string;
}

export function addSecondaryCommands(program: Command, cli: Cli): void {
  const secondary = commandOf(program, 'secondary');
  secondary
    .command('add')
    .description('copy a zone from primaries; it replaces an operator zone of this name')
    .argument('<name>', "the zone's name")
    .requiredOption('--from <peer...>', 'peers that are primaries, in the order in which they are asked')
    .option('--max-records <number>', 'maximum number of records (default: SECONDARY_MAX_RECORDS)')
    .action((name: string, options: AddOptions) => add(cli, name, options));
  secondary
    .command('remove')
    .description('stop copying zones; a copy that has not expired stays as an operator zone')
    .argument('<name...>', 'zone names')
    .action((names: string[]) => remove(cli, names));
  secondary
    .command('list')
    .description('list the zones that are copied, with serials and the last failure')
    .action(() => list(cli));
  const zone = commandOf(program, 'zone');
  zone
    .command('retransfer')
    .description(
      'transfer zones again from their primaries, whatever their serials; exit 1 if a zone is not a copy',
    )
    .argument('<name...>', 'zone names')
    .action((names: string[]) => retransfer(cli, names));
}

async function add(cli: Cli, text: string, { from, maxRecords }: AddOptions): Promise<void> {
  const { encodeNameColumn } = await import('../../store/postgres/name-column.ts');
  const zone = encodeNameColumn(parseZoneName(text));
  const peers = [...new Set(from)];
  if (peers.length > MOST_PRIMARIES)
    throw new Failure('usage', `--from: a zone has at most ${MOST_PRIMARIES} primaries`);
  const most = maxRecords === undefined ? null : readRecords(maxRecords);
  const { addSecondary } = await import('./sql-manage.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const added = await cli.audited(db, 'secondary.add', async (trx, tell) => {
      const done = await addSecondary(trx, { zone, from: peers, maxRecords: most });
      if (done.kind === 'added')
        tell({ target: { name: zone }, after: { primaries: peers, max_records: most } });
      return done;
    });
    if (added.kind === 'refused') {
      const { message } = added;
      if (output.json) await output.print(JSON.stringify({ zone, outcome: 'refused', message }));
      else await output.complain(`${zone}: ${message}`);
      return 1;
    }
    await output.print(output.json ? JSON.stringify({ zone, outcome: 'added' }) : `added ${zone}`);
    return 0;
  });
}

function readRecords(text: string): number {
  const number = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_RECORDS) return number;
  throw new Failure('usage', `--max-records: expected a number of records, not "${text}"`);
}

async function remove(cli: Cli, texts: readonly string[]): Promise<void> {
  const zones = await namesOf(texts);
  const { removeSecondary } = await import('./sql-manage.ts');
  await cli.withStore(async (db) => {
    const listing = new Listing(cli.output, 'zones');
    const counts = { kept: 0, unloaded: 0, absent: 0, of_catalog: 0 };
    for (const zone of zones) {
      const outcome = await cli.audited(db, 'secondary.remove', async (trx, tell) => {
        const done = await removeSecondary(trx, zone, cli.actor());
        if (done === 'kept' || done === 'unloaded') tell({ target: { name: zone } });
        return done;
      });
      counts[outcome]++;
      if (outcome === 'absent' || outcome === 'of_catalog') {
        const problem = outcome === 'absent' ? NO_COPY : OF_CATALOG;
        await listing.add({ json: { zone, outcome }, problems: [`${zone}: ${problem}`] });
        continue;
      }
      const left = outcome === 'kept' ? 'the copy is now an operator zone' : 'the expired copy was unloaded';
      await listing.add({ json: { zone, outcome }, lines: [`removed ${zone}: ${left}`] });
    }
    await listing.end({ summary: counts });
    return counts.absent + counts.of_catalog > 0 ? 1 : 0;
  });
}

const NO_COPY = 'not a zone that is copied from a primary';
const OF_CATALOG = 'a catalog, or a member of one (see catalog remove)';

async function retransfer(cli: Cli, texts: readonly string[]): Promise<void> {
  const zones = await namesOf(texts);
  const { orderRetransfers } = await import('./sql-manage.ts');
  await cli.withStore(async (db) => {
    const ordered = await cli.audited(db, 'zone.retransfer', async (trx, tell) => {
      const done = await orderRetransfers(trx, zones);
      if (done.length > 0) tell({ target: { name: done[0] }, after: { zones: done.length, names: done } });
      return done;
    });
    const listing = new Listing(cli.output, 'zones');
    for (const zone of zones) {
      const isOrdered = ordered.includes(zone);
      const json = { zone, outcome: isOrdered ? 'ordered' : 'absent' };
      await listing.add(
        isOrdered ? { json, lines: [`ordered ${zone}`] } : { json, problems: [`${zone}: ${NO_COPY}`] },
      );
    }
    const absent = zones.length - ordered.length;
    await listing.end({ summary: { ordered: ordered.length, absent } });
    return absent > 0 ? 1 : 0;
  });
}

async function namesOf(texts: readonly string[]): Promise<string[]> {
  const { encodeNameColumn } = await import('../../store/postgres/name-column.ts');
  return [...new Set(texts.map((text) => encodeNameColumn(parseZoneName(text))))];
}

async function list(cli: Cli): Promise<void> {
  const { listSecondaries } = await import('./sql-manage.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const all: ListedSecondary[] = [];
    for await (const secondary of listSecondaries(db)) all.push(secondary);
    if (output.json) {
      await output.print(JSON.stringify({ secondaries: all.map(secondaryJson) }));
      return 0;
    }
    const heads = ['ZONE', 'STATE', 'SERIAL', 'FROM', 'REFRESHED', 'DUE', 'EXPIRES', 'LAST ERROR'];
    const cells = all.map((each) => [
      each.zone,
      each.state,
      each.serial ?? '-',
      each.from.join(' '),
      each.refreshedAt?.toISOString() ?? '-',
      each.dueAt.toISOString(),
      each.expiresAt?.toISOString() ?? '-',
      each.lastError === null ? '-' : `${each.lastError}: ${each.lastMessage ?? ''}`,
    ]);
    await output.print(printTable(heads, cells));
    return 0;
  });
}

function secondaryJson(each: ListedSecondary): object {
  return {
    zone: each.zone,
    domain: each.isDomain,
    catalog: each.catalog,
    state: each.state,
    from: each.from,
    serial: each.serial,
    form: each.form,
    max_records: each.maxRecords,
    transferred_at: each.transferredAt?.toISOString() ?? null,
    refreshed_at: each.refreshedAt?.toISOString() ?? null,
    due_at: each.dueAt.toISOString(),
    expires_at: each.expiresAt?.toISOString() ?? null,
    expired_at: each.expiredAt?.toISOString() ?? null,
    last_error: each.lastError,
    last_message: each.lastMessage,
  };
}
