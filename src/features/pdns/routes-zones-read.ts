// Routes that list, show and export zones.

import { z } from 'zod';
import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { notFound, Problem } from '../../api/answers/problem.ts';
import { asStoreCaller, domainNamesOf } from '../../api/callers/caller.ts';
import type { Call } from '../../api/calls/call.ts';
import { findVisibleDomain } from '../../api/calls/find-domain.ts';
import { account, domain, type Route } from '../../api/calls/route.ts';
import { compatRoute } from '../../api/compat/compat-route.ts';
import type { Name } from '../../dns/name.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { streamDomains } from '../../store/domains/list-domains.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type RecordFilter, streamRecords } from '../../store/records/load-records.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { printWithoutDot, readFullName } from '../../zone/name-text.ts';
import { isApiType } from '../../zone/records/customer-types.ts';
import {
  fileTexts,
  listTexts,
  openTexts,
  type PrintedSet,
  printZone,
  printZoneDetails,
  setsOfCopy,
  setsOfRecords,
  soaOf,
  zoneTexts,
} from './print.ts';
import { readCanonical, refuse } from './rules.ts';
import { loadFacts, type ZoneFacts } from './sql.ts';
import { PDNS, ZONE, ZONES } from './surface.ts';

const text = z.string().max(1100).optional();
const JSON_TYPE = { type: 'application/json' };

const listZones = compatRoute(PDNS, account(), {
  method: 'GET',
  path: ZONES,
  operationId: 'pdnsListZones',
  query: z.looseObject({ zone: text, dnssec: text }),
  async run(call) {
    const { zone, dnssec } = call.query;
    const wanted = zone === undefined ? undefined : readCanonical(zone);
    if (wanted instanceof Problem) return wanted;
    const domains = wanted === undefined ? streamVisible(call) : yieldOne(await findOne(call, wanted));
    const zones = zonesOf(call.api.db, domains, dnssec !== 'false');
    return new CompatAnswer(await openTexts(listTexts(zones)), JSON_TYPE);
  },
});

const BY_NAME = { sort: 'name', descending: false } as const;

function streamVisible({ api, caller }: Pick<Call, 'api' | 'caller'>) {
  const names = domainNamesOf(caller.key);
  return streamDomains(api.db, asStoreCaller(caller), names === undefined ? {} : { names }, BY_NAME);
}

async function findOne({ api, caller }: Pick<Call, 'api' | 'caller'>, name: Name) {
  const found = await findVisibleDomain(api.db, caller, printWithoutDot(name), false);
  return found instanceof Problem ? undefined : found;
}

async function* yieldOne(found: VisibleDomain | undefined): AsyncGenerator<VisibleDomain> {
  if (found !== undefined) yield found;
}

const ZONES_PER_QUERY = 200;

async function* zonesOf(
  db: Database,
  domains: AsyncIterable<VisibleDomain>,
  withSerial: boolean,
): AsyncGenerator<object> {
  let waiting: VisibleDomain[] = [];
  for await (const each of domains) {
    waiting.push(each);
    if (waiting.length < ZONES_PER_QUERY) continue;
    yield* await printZones(db, waiting, withSerial);
    waiting = [];
  }
  yield* await printZones(db, waiting, withSerial);
}

async function printZones(db: Database, domains: readonly VisibleDomain[], withSerial: boolean) {
  if (domains.length === 0) return [];
  const facts = await loadFacts(
    db,
    domains.map(({ id }) => id),
  );
  return domains.flatMap((each) => {
    const own = facts.get(each.id);
    if (own === undefined) return []; // deleted in the meantime
    const zone = printZone(each, own);
    return withSerial ? zone : { ...zone, dnssec: undefined, edited_serial: undefined };
  });
}

const getZone = compatRoute(PDNS, domain('domain.view'), {
  method: 'GET',
  path: ZONE,
  operationId: 'pdnsGetZone',
  query: z.looseObject({ rrsets: text, rrset_name: text, rrset_type: text }),
  run: ({ api, domain, query }) => showZone(api.db, domain, query),
});

interface Shown {
  readonly rrsets?: string | undefined;
  readonly rrset_name?: string | undefined;
  readonly rrset_type?: string | undefined;
}

export async function showZone(
  db: Database,
  zone: VisibleDomain,
  { rrsets = 'true', rrset_name: name, rrset_type: type }: Shown = {},
  status = 200,
): Promise<CompatAnswer | Problem> {
  if (rrsets !== 'true' && rrsets !== 'false')
    return refuse(`'rrsets' request parameter value '${rrsets.slice(0, 20)}' is not supported`);
  const facts = (await loadFacts(db, [zone.id])).get(zone.id);
  if (facts === undefined) return notFound('domain');
  const shown = { ...printZone(zone, facts), ...printZoneDetails(facts) };
  if (rrsets === 'false') return CompatAnswer.json(shown, { status });
  const read = name === undefined ? undefined : readFullName(name);
  if (read?.kind === 'problem') return refuse(`rrset_name: ${read.message}`);
  // PowerDNS ignores a type without a name.
  const filter = read === undefined ? {} : { name: read.name, type: type?.toUpperCase() };
  const sets = await openSets(db, zone, facts, filter);
  return new CompatAnswer(await openTexts(zoneTexts(shown, sets)), { ...JSON_TYPE, status });
}

interface SetFilter {
  readonly name?: Name;
  readonly type?: string | undefined;
}

/** Returns the record sets of a zone. They are loaded while the response is sent. */
async function openSets(
  db: Database,
  zone: VisibleDomain,
  { copySerial }: ZoneFacts,
  { name, type }: SetFilter = {},
): Promise<AsyncIterable<PrintedSet>> {
  const isShown = (set: PrintedSet) => type === undefined || set.type === type;
  if (copySerial !== null && zone.served === 'full') {
    const copy = (await loadZone(db, zone.name))?.records ?? [];
    return filterSets(
      setsOfCopy(name === undefined ? copy : copy.filter(({ owner }) => owner === name)),
      isShown,
    );
  }
  const { rname } = await loadPublishSettings(db);
  const soa = name === undefined || name === zone.name ? soaOf(zone, zone.serial, rname) : undefined;
  const known = type === 'ALIAS' ? 'ANAME' : type;
  const filter: RecordFilter = {
    ...(name !== undefined && { name }),
    ...(known !== undefined && { types: isApiType(known) ? [known] : [] }),
  };
  const records = streamRecords(db, zone.id, filter, BY_NAME);
  return filterSets(setsOfRecords(soa, records, zone.name), isShown);
}

async function* filterSets(
  sets: AsyncIterable<PrintedSet> | Iterable<PrintedSet>,
  isShown: (set: PrintedSet) => boolean,
): AsyncGenerator<PrintedSet> {
  for await (const set of sets) if (isShown(set)) yield set;
}

const exportZone = compatRoute(PDNS, domain('domain.view'), {
  method: 'GET',
  path: `${ZONE}/export`,
  operationId: 'pdnsExportZone',
  async run({ api: { db }, domain: zone }) {
    const facts = (await loadFacts(db, [zone.id])).get(zone.id);
    if (facts === undefined) return notFound('domain');
    const texts = fileTexts(await openSets(db, zone, facts));
    return new CompatAnswer(await openTexts(texts), { type: 'text/plain; charset=utf-8' });
  },
});

export const ZONE_READ_ROUTES: readonly Route[] = [listZones, getZone, exportZone];
