// The commands of `zonefleet breaker`: whether moves to `moved` and `disabled` are held back because too many domains
// turned away at once (docs/rules.md "Breaker"), freezing them by hand, and letting them through.

import type { Command } from 'commander';
import { type CheckCounts, MAX_FREEZE_MS, MAX_REASON } from '../../checks/delegation/breaker.ts';
import { type Name, printName } from '../../dns/name.ts';
import { readSpan } from '../../process/settings/read-span.ts';
import type { BreakerTrip } from '../../store/checks/breaker-store.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
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

  breaker
    .command('freeze')
    .description('hold moves back by hand until they are released, whatever checks see')
    .requiredOption('--reason <text>', 'why: shown beside what is held')
    .option('--parent <name>', 'those of the domains under this zone (default: all)')
    .option('--for <time>', 'end it by itself after a time like 90m, 24h or 14d, at most a year')
    .action(async ({ reason, parent, for: time }: FreezeOptions) => {
      const only = parent === undefined ? undefined : parseZoneName(parent);
      const forMs = time === undefined ? undefined : readTime(time);
      const why = reason.trim();
      if (why === '' || why.length > MAX_REASON)
        throw new Failure('usage', `--reason: expected 1 to ${MAX_REASON} characters`);
      await cli.withStore((db) => freeze(db, { only, reason: why, forMs }, cli));
    });
}

interface FreezeOptions {
  readonly reason: string;
  readonly parent?: string;
  readonly for?: string;
}

const FREEZE_TIME = 'a time like 90m, 24h or 14d, at most 366d';

function readTime(text: string): number {
  const ms = readSpan(text);
  if (ms === undefined || ms > MAX_FREEZE_MS) throw new Failure('usage', `--for: expected ${FREEZE_TIME}`);
  return ms;
}

async function showBreaker(db: Database, withLog: boolean, output: Output): Promise<number> {
  const { isHolding, listTrips, loadBreaker } = await import('../../store/checks/breaker-store.ts');
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
  if (code === 1) {
    const isByHand = trips.every((trip) => !isHolding(trip) || trip.frozenBy !== null);
    await output.complain(
      isByHand ? 'to end it: zonefleet breaker release' : 'if the turn is real: zonefleet breaker release',
    );
  }
  return code;
}

const HEADS = ['PARENT', 'SINCE', 'CHECKED', 'TURNED', 'STATE'];

function tripRow(trip: BreakerTrip): (string | number)[] {
  const { parent, trippedAt, checked, turned } = trip;
  return [zoneText(parent) ?? '(all)', time(trippedAt), checked, turned, stateText(trip)];
}

function stateText({ releasedAt, releasedBy, endedAt, frozenBy, frozenUntil, reason }: BreakerTrip): string {
  const until = frozenUntil === null ? '' : ` until ${time(frozenUntil)}`;
  const frozen = frozenBy === null ? [] : [`frozen${until} by ${frozenBy}: ${reason}`];
  const released = releasedAt === null ? [] : [`released ${time(releasedAt)} by ${releasedBy ?? '?'}`];
  const ended = endedAt === null ? [] : [`over ${time(endedAt)}`];
  return [...frozen, ...released, ...ended].join(', ') || 'holds moves';
}

function tripJson({
  parent,
  trippedAt,
  checked,
  turned,
  releasedAt,
  releasedBy,
  endedAt,
  frozenBy,
  reason,
  frozenUntil,
}: BreakerTrip): object {
  return {
    parent: zoneText(parent),
    since: trippedAt.toISOString(),
    checked,
    turned,
    released_at: releasedAt?.toISOString() ?? null,
    released_by: releasedBy,
    ended_at: endedAt?.toISOString() ?? null,
    frozen_by: frozenBy,
    reason,
    until: frozenUntil?.toISOString() ?? null,
  };
}

async function release(db: Database, only: Name | undefined, cli: Cli): Promise<number> {
  const { output } = cli;
  const { isHolding, loadBreaker, releaseTrip } = await import('../../store/checks/breaker-store.ts');
  const { trips } = await loadBreaker(db);
  const wanted = only === undefined ? undefined : printName(only);
  const holding = trips.filter((trip) => isHolding(trip) && (wanted === undefined || trip.parent === wanted));
  const released: BreakerTrip[] = [];
  for (const { id: tripId } of holding) {
    const trip = await cli.audited(db, 'breaker.release', async (trx, tell) => {
      const found = await releaseTrip(trx, tripId, cli.actor());
      if (found === undefined) return undefined;
      const { id, parent, checked, turned } = found;
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

interface FreezeTask {
  readonly only: Name | undefined;
  readonly reason: string;
  readonly forMs: number | undefined;
}

async function freeze(db: Database, { only, reason, forMs }: FreezeTask, cli: Cli): Promise<number> {
  const { output } = cli;
  const { freezeMoves, hasDomainsUnder } = await import('../../store/checks/breaker-store.ts');
  const parent = only === undefined ? '' : printName(only);
  if (parent !== '' && !(await hasDomainsUnder(db, parent)))
    throw new Failure('usage', `--parent: "${zoneText(parent)}" is not the parent zone of any domain here`);
  const until = forMs === undefined ? undefined : new Date(Date.now() + forMs);
  const trip = await cli.audited(db, 'breaker.freeze', async (trx, tell) => {
    const frozen = await freezeMoves(trx, { parent, reason, by: cli.actor(), until });
    tell({
      target: { id: frozen.id, name: parent || '(all)' },
      after: { reason, until: until?.toISOString() ?? null },
    });
    return frozen;
  });
  if (output.json) await output.print(JSON.stringify({ frozen: tripJson(trip) }));
  else
    await output.print(
      `frozen ${zoneText(parent) ?? '(all)'}${until === undefined ? '' : ` until ${time(until)}`}`,
    );
  return 0;
}

/** The parent's name without the final dot; null for all. */
function zoneText(parent: string): string | null {
  if (parent === '') return null;
  return parent === '.' ? parent : parent.replace(/\.$/, '');
}

function time(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}
