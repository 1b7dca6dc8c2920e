// /admin/breaker: whether moves to `moved` and `disabled` are held back because too many domains turned away at once, and
// letting them through.

import { z } from 'zod';
import { printName } from '../../../dns/name.ts';
import {
  type BreakerTrip,
  listTrips,
  loadBreaker,
  loadRegistryHours,
  releaseBreaker,
} from '../../../store/checks/breaker-store.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { parseDomainName } from '../../../zone/domain/domain-name.ts';
import { invalid, problem } from '../../answers/problem.ts';
import { adminRoute } from '../../calls/route.ts';
import { moments } from '../../print/moments.ts';
import { Breaker, BreakerRelease, RegistryHours } from '../../schemas/admin/fleet.ts';

const tag = 'Fleet';
const LOGGED_TRIPS = 50;
const SHOWN_PARENTS = 50;

const isHolding = ({ endedAt, releasedAt }: BreakerTrip) => endedAt === null && releasedAt === null;

async function describe(db: Database): Promise<z.input<typeof Breaker>> {
  const { counts, trips } = await loadBreaker(db);
  const sum = (of: 'checked' | 'turned') => counts.reduce((total, row) => total + row[of], 0);
  return {
    held: trips.some(isHolding),
    checked: sum('checked'),
    turned: sum('turned'),
    parents: counts.map(({ parent, checked, turned }) => ({ ...zoneOf(parent), checked, turned })),
    trips: (await listTrips(db, { limit: LOGGED_TRIPS })).map((trip) => ({
      id: trip.id,
      ...zoneOf(trip.parent),
      since: trip.trippedAt.toISOString(),
      checked: trip.checked,
      turned: trip.turned,
      ...moments({ released_at: trip.releasedAt, ended_at: trip.endedAt }),
      ...(trip.releasedBy !== null && { released_by: trip.releasedBy }),
    })),
  };
}

/** Without the final dot; nothing for all domains. */
function zoneOf(parent: string): { parent?: string } {
  if (parent === '') return {};
  return { parent: parent === '.' ? parent : parent.replace(/\.$/, '') };
}

export const getBreaker = adminRoute({
  method: 'GET',
  path: '/admin/breaker',
  operationId: 'adminGetBreaker',
  tag,
  summary: 'Whether changes of the status are held back, since when and why.',
  response: Breaker,
  run: ({ api }) => describe(api.db),
});

export const getRegistries = adminRoute({
  method: 'GET',
  path: '/admin/registries',
  operationId: 'adminGetRegistries',
  tag,
  summary: 'What checks saw of active domains in the last 24 hours, by the zone above them.',
  description: 'The 50 zones below which most domains turned away, then those with most checks.',
  response: z.array(RegistryHours),
  async run({ api }) {
    const registries = await loadRegistryHours(api.db, { parents: SHOWN_PARENTS });
    return registries.map(({ parent, hours }) => ({
      ...zoneOf(parent),
      hours: hours.map(({ hour, checked, turned, off }) => ({
        hour: hour.toISOString(),
        checked,
        turned,
        off,
      })),
    }));
  },
});

export const release = adminRoute({
  method: 'POST',
  path: '/admin/breaker/release',
  operationId: 'adminReleaseBreaker',
  tag,
  summary: 'Let the changes through that are held back, until the turn is over.',
  audit: 'breaker.release',
  body: BreakerRelease.nullish(),
  response: Breaker,
  problems: ['wrong_state'],
  async run({ api, caller, body, audit }) {
    const wanted = body?.parent === undefined ? undefined : parentOf(body.parent);
    if (wanted === null) return invalid([{ field: 'parent', error: 'is not the name of a zone' }]);
    const { trips } = await loadBreaker(api.db);
    const holding = trips.filter(
      (trip) => isHolding(trip) && (wanted === undefined || trip.parent === wanted),
    );
    const released: BreakerTrip[] = [];
    for (const { parent } of holding) {
      const trip = await releaseBreaker(api.db, parent, caller.account.email);
      if (trip !== undefined) released.push(trip);
    }
    if (released.length === 0) return problem('wrong_state', 'nothing is held back');
    for (const { id, parent, checked, turned } of released)
      audit({ target: { id, name: parent || '(all)' }, after: { checked, turned } });
    return await describe(api.db);
  },
});

/** As trips name it; null: it cannot be read. */
function parentOf(text: string): string | null {
  if (text === '.') return text;
  const parsed = parseDomainName(text);
  return parsed.kind === 'name' ? printName(parsed.name) : null;
}
