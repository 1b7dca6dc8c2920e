// /admin/breaker: shows whether changes to `moved` and `disabled` are held back, because the delegations of too many
// domains changed at the same time or because an operator froze the changes. Freezes and releases them.

import { z } from 'zod';
import { MAX_FREEZE_MS } from '../../../checks/delegation/breaker.ts';
import { printName } from '../../../dns/name.ts';
import {
  type BreakerTrip,
  freezeMoves,
  hasDomainsUnder,
  isHolding,
  listTrips,
  loadBreaker,
  loadRegistryHours,
  releaseTrip,
} from '../../../store/checks/breaker-store.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { parseDomainName } from '../../../zone/domain/domain-name.ts';
import { invalid, problem } from '../../answers/problem.ts';
import { admin, type Route, route } from '../../calls/route.ts';
import { Breaker, BreakerFreeze, BreakerRelease, RegistryHours } from '../../schemas/admin/fleet.ts';
import { moments } from '../../schemas/fields.ts';

const tag = 'Fleet';
const LOGGED_TRIPS = 50;
const SHOWN_PARENTS = 50;

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
      ...moments({ released_at: trip.releasedAt, ended_at: trip.endedAt, until: trip.frozenUntil }),
      ...(trip.releasedBy !== null && { released_by: trip.releasedBy }),
      ...(trip.frozenBy !== null && { frozen_by: trip.frozenBy }),
      ...(trip.reason !== null && { reason: trip.reason }),
    })),
  };
}

/** Returns the zone without its final dot, or no member if the trip affects all domains. */
function zoneOf(parent: string): { parent?: string } {
  if (parent === '') return {};
  return { parent: parent === '.' ? parent : parent.replace(/\.$/, '') };
}

const getBreaker = route(admin, {
  method: 'GET',
  path: '/admin/breaker',
  operationId: 'adminGetBreaker',
  tag,
  summary: 'Shows whether status changes are held back, since when and why.',
  response: Breaker,
  run: ({ api }) => describe(api.db),
});

const getRegistries = route(admin, {
  method: 'GET',
  path: '/admin/registries',
  operationId: 'adminGetRegistries',
  tag,
  summary: 'Summarizes the checks of active domains in the last 24 hours, by parent zone.',
  description:
    'Lists up to 50 parent zones: first those with the most domains that changed to other nameservers, then those with the most checks.',
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

const release = route(admin, {
  method: 'POST',
  path: '/admin/breaker/release',
  operationId: 'adminReleaseBreaker',
  tag,
  summary:
    'Releases the status changes that are held back, for the rest of this trip, and ends freezes by operators.',
  audit: 'breaker.release',
  body: BreakerRelease.nullish(),
  response: Breaker,
  problems: ['wrong_state'],
  async run({ api, caller, body, audit }) {
    const wanted = body?.parent === undefined ? undefined : parentOf(body.parent);
    if (wanted === null) return NO_ZONE;
    const { trips } = await loadBreaker(api.db);
    const holding = trips.filter(
      (trip) => isHolding(trip) && (wanted === undefined || trip.parent === wanted),
    );
    const released: BreakerTrip[] = [];
    for (const { id } of holding) {
      const trip = await releaseTrip(api.db, id, caller.account.email);
      if (trip !== undefined) released.push(trip);
    }
    if (released.length === 0) return problem('wrong_state', 'nothing is held back');
    for (const { id, parent, checked, turned } of released)
      audit({ target: { id, name: parent || '(all)' }, after: { checked, turned } });
    return await describe(api.db);
  },
});

const freeze = route(admin, {
  method: 'POST',
  path: '/admin/breaker/freeze',
  operationId: 'adminFreezeBreaker',
  tag,
  summary: 'Freezes status changes until they are released.',
  description:
    'Workers hold changes back within a second. An existing freeze gets this reason and this end. Checks never end a freeze.',
  audit: 'breaker.freeze',
  body: BreakerFreeze,
  response: Breaker,
  async run({ api, caller, body: { parent, reason, until: end }, audit }) {
    const wanted = parent === undefined ? '' : parentOf(parent);
    if (wanted === null) return NO_ZONE;
    const until = end === undefined ? undefined : new Date(end);
    const restMs = until === undefined ? undefined : until.getTime() - Date.now();
    if (restMs !== undefined && !(restMs > 0 && restMs <= MAX_FREEZE_MS))
      return invalid([{ field: 'until', error: 'must be in the future and within a year' }]);
    if (wanted !== '' && !(await hasDomainsUnder(api.db, wanted)))
      return invalid([{ field: 'parent', error: 'is not the parent zone of any domain here' }]);
    const by = caller.account.email;
    const { id } = await freezeMoves(api.db, { parent: wanted, reason: reason.trim(), by, until });
    audit({
      target: { id, name: wanted || '(all)' },
      after: { reason: reason.trim(), until: until?.toISOString() ?? null },
    });
    return await describe(api.db);
  },
});

const NO_ZONE = invalid([{ field: 'parent', error: 'is not the name of a zone' }]);

/** Returns the zone in the form that trips store, or null if the text is not a name. */
function parentOf(text: string): string | null {
  if (text === '.') return text;
  const parsed = parseDomainName(text);
  return parsed.kind === 'name' ? printName(parsed.name) : null;
}

export const BREAKER_ROUTES: readonly Route[] = [getBreaker, getRegistries, release, freeze];
