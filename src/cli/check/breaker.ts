// `zonefleet breaker …`: shows, freezes and releases the breaker, which holds status changes to `moved` and `disabled` if too
// many domains change together (docs/rules.md "Breaker").

import type { Command } from 'commander';
import { type CheckCounts, MAX_FREEZE_MS, MAX_REASON } from '../../checks/delegation/breaker.ts';
import { type Name, printName } from '../../dns/name.ts';
import { readSpan } from '../../process/settings/read-span.ts';
import type { BreakerTrip } from '../../store/checks/breaker-store.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { printTable } from '../terminal/print-table.ts';

const LOGGED_TRIPS = 50;

export function addBreakerCommands(program: Command, cli: Cli): void {
  const breaker = commandOf(program, 'breaker');

  breaker
    .command('show')
    .description('show what holds status changes, since when, and who released it; exit 1 while any are held')
    .option('--log', `show the last ${LOGGED_TRIPS} holds, including ended ones`)
    .action(async ({ log }: { log?: true }) => {
      await cli.withStore((db) => showBreaker(db, log === true, cli.output));
    });

  breaker
    .command('release')
    .description('allow the held status changes; exit 1 if none are held')
    .option('--parent <name>', 'only for domains under this zone (default: all)')
    .action(async ({ parent }: { parent?: string }) => {
      const only = parent === undefined ? undefined : parseZoneName(parent);
      await cli.withStore((db) => release(db, only, cli));
    });

  breaker
    .command('freeze')
    .description('hold status changes until they are released, regardless of the checks')
    .requiredOption('--reason <text>', 'the reason, which is shown with the hold')
    .option('--parent <name>', 'only for domains under this zone (default: all)')
    .option(
      '--for <time>',
      'end the hold automatically after a time such as 90m, 24h or 14d, at most one year',
    )
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

const FREEZE_TIME = 'a time such as 90m, 24h or 14d, at most 366d';

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
  const state = code === 1 ? 'status changes are held' : 'no status changes are held';
  await output.print(
    `${state}; ${sum('turned')} of the ${sum('checked')} active domains checked in the last 15 minutes lost our nameservers`,
  );
  if (code === 1) await output.complain(releaseHint(trips.filter(isHolding)));
  return code;
}

function releaseHint(holding: readonly BreakerTrip[]): string {
  const when = holding.every(({ frozenBy }) => frozenBy !== null)
    ? 'to end it'
    : 'if the domains really moved';
  const [first, ...others] = holding.map(({ parent }) => zoneText(parent));
  const parent = others.length === 0 && first !== null ? ` --parent ${first}` : '';
  return `${when}: zonefleet breaker release${parent}`;
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
  const ended = endedAt === null ? [] : [`ended ${time(endedAt)}`];
  return [...frozen, ...released, ...ended].join(', ') || 'holds status changes';
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
    if (trip !== undefined) released.push(trip); // otherwise it has ended meanwhile
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
    await output.complain(`no status changes${under} are held`);
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

/** The name of the parent zone without the final dot, or null for all domains. */
function zoneText(parent: string): string | null {
  if (parent === '') return null;
  return parent === '.' ? parent : parent.replace(/\.$/, '');
}

function time(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}
