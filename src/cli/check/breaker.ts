// The commands of `zonefleet breaker`: whether moves to `moved` and `disabled` are held back because too many domains
// turned away at once (docs/rules.md "Breaker"), and letting them through.

import type { Command } from 'commander';
import type { CheckCounts } from '../../checks/delegation/breaker.ts';
import { type Name, printName } from '../../dns/name.ts';
import type { BreakerTrip } from '../../store/checks/breaker-store.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import type { Output } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { printTable } from '../terminal/print-table.ts';

const LOGGED_TRIPS = 50;

export function addBreakerCommands(program: Command, cli: Cli): void {
  const breaker = program
    .command('breaker')
    .description('stops status changes to moved or disabled while unusually many domains change at once');

  breaker
    .command('show')
    .description('what holds moves back, since when, and who released it; exit 1 while any are held')
    .option('--log', `the last ${LOGGED_TRIPS} times, those that are over too`)
    .action(async ({ log }: { log?: true }) => {
      await cli.withStore((db) => showBreaker(db, log === true, cli.output));
    });

  breaker
    .command('release')
    .description('let the moves through that are held; exit 1 if none are')
    .option('--parent <name>', 'those of the domains under this zone (default: all)')
    .action(async ({ parent }: { parent?: string }) => {
      const only = parent === undefined ? undefined : parseZoneName(parent);
      await cli.withStore((db) => release(db, only, cli));
    });
}

function isHolding({ endedAt, releasedAt }: BreakerTrip): boolean {
  return endedAt === null && releasedAt === null;
}

async function showBreaker(db: Database, withLog: boolean, output: Output): Promise<number> {
  const { listTrips, loadBreaker } = await import('../../store/checks/breaker-store.ts');
  const { counts, trips } = await loadBreaker(db);
  const shown = withLog ? await listTrips(db, { limit: LOGGED_TRIPS }) : trips;
  const code = trips.some(isHolding) ? 1 : 0;
  const sum = (of: 'checked' | 'turned') => counts.reduce((total, row: CheckCounts) => total + row[of], 0);
  if (output.json) {
    const document = {
      held: code === 1,
      checked: sum('checked'),
      turned: sum('turned'),
      parents: counts.map(({ parent, checked, turned }) => ({ parent: zoneText(parent), checked, turned })),
      trips: shown.map(tripJson),
    };
    await output.print(JSON.stringify(document));
    return code;
  }
  if (shown.length > 0) await output.print(printTable(HEADS, shown.map(tripRow)));
  const state = code === 1 ? 'moves are held' : 'no moves are held';
  await output.print(
    `${state}; of ${sum('checked')} active domains checked within 15 minutes ${sum('turned')} turned`,
  );
  if (code === 1) await output.complain('if the turn is real: zonefleet breaker release');
  return code;
}

const HEADS = ['PARENT', 'SINCE', 'CHECKED', 'TURNED', 'STATE'];

function tripRow(trip: BreakerTrip): (string | number)[] {
  const { parent, trippedAt, checked, turned } = trip;
  return [zoneText(parent) ?? '(all)', time(trippedAt), checked, turned, stateText(trip)];
}

function stateText({ releasedAt, releasedBy, endedAt }: BreakerTrip): string {
  const released = releasedAt === null ? [] : [`released ${time(releasedAt)} by ${releasedBy ?? '?'}`];
  const ended = endedAt === null ? [] : [`over ${time(endedAt)}`];
  return [...released, ...ended].join(', ') || 'holds moves';
}

function tripJson({
  parent,
  trippedAt,
  checked,
  turned,
  releasedAt,
  releasedBy,
  endedAt,
}: BreakerTrip): object {
  return {
    parent: zoneText(parent),
    since: trippedAt.toISOString(),
    checked,
    turned,
    released_at: releasedAt?.toISOString() ?? null,
    released_by: releasedBy,
    ended_at: endedAt?.toISOString() ?? null,
  };
}

async function release(db: Database, only: Name | undefined, cli: Cli): Promise<number> {
  const { output } = cli;
  const { loadBreaker, releaseBreaker } = await import('../../store/checks/breaker-store.ts');
  const { trips } = await loadBreaker(db);
  const wanted = only === undefined ? undefined : printName(only);
  const holding = trips.filter((trip) => isHolding(trip) && (wanted === undefined || trip.parent === wanted));
  const released: BreakerTrip[] = [];
  for (const { parent } of holding) {
    const trip = await cli.audited(db, 'breaker.release', async (trx, tell) => {
      const found = await releaseBreaker(trx, parent, cli.actor());
      if (found === undefined) return undefined;
      const { id, checked, turned } = found;
      tell({ target: { id, name: parent || '(all)' }, after: { checked, turned } });
      return found;
    });
    if (trip !== undefined) released.push(trip); // else it has ended meanwhile
  }
  const code = released.length === 0 ? 1 : 0;
  if (output.json) {
    await output.print(JSON.stringify({ released: released.map(tripJson) }));
    return code;
  }
  for (const { parent, checked, turned } of released) {
    await output.print(`released ${zoneText(parent) ?? '(all)'} checked ${checked} turned ${turned}`);
  }
  if (code === 1) {
    const under = wanted === undefined ? '' : ` of domains under ${zoneText(wanted)}`;
    await output.complain(`no moves${under} are held`);
  }
  return code;
}

/** The parent's name without the final dot; null for all. */
function zoneText(parent: string): string | null {
  if (parent === '') return null;
  return parent === '.' ? parent : parent.replace(/\.$/, '');
}

function time(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}
