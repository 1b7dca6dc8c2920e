// Routes of the webhook provider API. external-dns negotiates, reads all records, and sends the changes that it planned.

import { type Saved, saveJudged } from '../../api/actions/save-records.ts';
import { CompatAnswer, type CompatSurface } from '../../api/answers/compat-answer.ts';
import { Problem } from '../../api/answers/problem.ts';
import { JsonTexts, openArrayStream } from '../../api/answers/streams.ts';
import { judgeItems } from '../../api/body/body-bounds.ts';
import { asStoreCaller, domainNamesOf, mayDo } from '../../api/callers/caller.ts';
import type { Call } from '../../api/calls/call.ts';
import type { Route } from '../../api/calls/route.ts';
import { anyKey, compatRoute } from '../../api/compat/compat-route.ts';
import { findDomainsOfNames, noDomainFor } from '../../api/compat/find-domain-of-name.ts';
import type { EditMaker } from '../../store/change/save-edit.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { listDomains } from '../../store/domains/list-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeListed, listRecordRows } from '../../store/records/load-records.ts';
import type { EditProblem } from '../../zone/edit/edit.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type CustomerRecord, setKey } from '../../zone/records/customer-record.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import {
  adjustEndpoint,
  ENDPOINT_TYPES,
  isOwnership,
  MEDIA_TYPE,
  makeEdit,
  printEndpoint,
  Refused,
  readChanges,
  readNames,
  type SetChange,
} from './rules.ts';
import { Changes, Endpoints, MAX_ENDPOINTS } from './schema.ts';
import { countRecordSets } from './sql.ts';

const MAX_SETS = 50_000;
const MAX_DOMAINS = 1000;
const TOO_MUCH = new Problem(422, 'narrow the key to fewer domains');
/** Older releases of external-dns require this header. */
const VARY = { Vary: 'Content-Type' };

/** Statuses of external-dns for those of the API: a conflict with records or a plan is a 422. */
const STATUSES: Readonly<Record<number, number>> = { 402: 422, 409: 422 };

const surface: CompatSurface = {
  name: 'external-dns',
  explain: ({ status, error, headers }) =>
    new CompatAnswer(`${error}\n`, { status: STATUSES[status] ?? status, headers: { ...headers, ...VARY } }),
};

const answer = (body: CompatAnswer['body']) => new CompatAnswer(body, { type: MEDIA_TYPE, headers: VARY });

const negotiate = ['/external-dns', '/external-dns/'].map((path) =>
  compatRoute(surface, anyKey, {
    method: 'GET',
    path,
    operationId: `negotiate ${path}`,
    async run(call) {
      const domains = await writableDomains(call);
      if (domains instanceof Problem) return domains;
      return answer(JSON.stringify({ include: domains.map(({ name }) => printWithoutDot(name)) }));
    },
  }),
);

const listEndpoints = compatRoute(surface, anyKey, {
  method: 'GET',
  path: '/external-dns/records',
  operationId: 'listEndpoints',
  async run(call) {
    const { db } = call.api;
    const domains = await writableDomains(call);
    if (domains instanceof Problem) return domains;
    const ids = domains.map(({ id }) => id);
    const records = domains.reduce((sum, { recordCount }) => sum + recordCount, 0);
    if (records > MAX_SETS && (await countRecordSets(db, ids, ENDPOINT_TYPES, MAX_SETS)) > MAX_SETS)
      return TOO_MUCH;
    const opened = await openArrayStream(endpointPages(db, ids));
    return answer(typeof opened === 'string' ? opened : (opened as AsyncIterable<string>));
  },
});

async function writableDomains({
  api,
  caller,
}: Pick<Call, 'api' | 'caller'>): Promise<VisibleDomain[] | Problem> {
  const names = domainNamesOf(caller.key);
  const { items, cursor } = await listDomains(
    api.db,
    asStoreCaller(caller),
    names === undefined ? {} : { names },
    { sort: 'name', descending: false },
    { limit: MAX_DOMAINS },
  );
  if (cursor !== undefined) return TOO_MUCH;
  const byName = new Map<string, VisibleDomain>();
  for (const domain of items) {
    const { name, myRole, status, accountId } = domain;
    if (!mayDo(myRole, 'records.edit') || status === 'disabled' || status === 'banned') continue;
    // If several domains have the name, prefer the caller's own, as writes do.
    if (!byName.has(name) || accountId === caller.account.id) byName.set(name, domain);
  }
  return [...byName.values()];
}

const PAGE_RECORDS = 1000;

async function* endpointPages(db: Database, domainIds: readonly number[]): AsyncGenerator<JsonTexts> {
  for (const id of domainIds) {
    let rest: CustomerRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await listRecordRows(
        db,
        id,
        { types: ENDPOINT_TYPES },
        { sort: 'name', descending: false },
        { limit: PAGE_RECORDS, ...(cursor !== undefined && { cursor }) },
      );
      cursor = page.cursor;
      const records = [...rest, ...page.items.map(decodeListed)];
      // The records of the last name may continue on the next page.
      const last = cursor === undefined ? undefined : records.at(-1)?.name;
      rest = records.filter(({ name }) => name === last);
      yield new JsonTexts(printSets(records.filter(({ name }) => name !== last)));
    } while (cursor !== undefined);
  }
}

function printSets(records: readonly CustomerRecord[]): string[] {
  const own = records.filter(({ managed }) => managed !== true);
  const sets = groupBy(own, ({ name, type }) => setKey(name, type));
  return [...sets.values()].map((set) => JSON.stringify(printEndpoint(set)));
}

const adjustEndpoints = compatRoute(surface, anyKey, {
  method: 'POST',
  path: '/external-dns/adjustendpoints',
  operationId: 'adjustEndpoints',
  writes: false,
  audit: { none: 'writes nothing' },
  largeBody: true,
  maxItems: MAX_ENDPOINTS,
  body: Endpoints,
  run: ({ body }) => answer(JSON.stringify(body.flatMap((endpoint) => adjustEndpoint(endpoint) ?? []))),
});

const applyChanges = compatRoute(surface, anyKey, {
  method: 'POST',
  path: '/external-dns/records',
  operationId: 'applyEndpointChanges',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_ENDPOINTS,
  body: Changes,
  async run(call) {
    const named = readNames(call.body);
    if (named instanceof Refused) return refuse(named);
    const found = await findDomainsOfNames(
      call,
      named.map(({ name }) => name),
    );
    if (found instanceof Problem) return found;
    const lost = named.find((each) => !found.has(each.name) && !isOwnership(each));
    if (lost !== undefined) return noDomainFor(lost.name);
    const domains = [...new Set(found.values())].sort((a, b) => a.id - b.id);
    const edits: DomainEdit[] = [];
    for (const domain of domains) {
      const own = named.filter(({ name }) => found.get(name) === domain);
      const sets = readChanges(own, domain.name);
      if (sets instanceof Refused) return refuse(sets);
      const items = own.reduce((sum, { endpoint }) => sum + (endpoint.targets?.length ?? 1), 0);
      const refused = judgeItems(items, applyChanges, domain.plan);
      if (refused !== undefined) return refused;
      edits.push({ domain, sets });
    }
    // If there are several domains, all changes are validated before any is saved. A single change is saved or refused whole.
    for (const dryRun of edits.length > 1 ? [true, false] : [false]) {
      for (const edit of edits) {
        const saved = await call.inTurnOf(edit.domain.id, () => saveSets(call, edit, dryRun));
        if (saved instanceof Problem) return saved;
      }
    }
    return new CompatAnswer(undefined, { status: 204, headers: VARY });
  },
});

interface DomainEdit {
  readonly domain: VisibleDomain;
  readonly sets: readonly SetChange[];
}

const refuse = ({ sentence }: Refused) => new Problem(422, sentence);

function saveSets(call: Call, { domain, sets }: DomainEdit, dryRun: boolean): Promise<Saved | Problem> {
  const names = [...new Set(sets.map(({ name }) => name))];
  const edit: EditMaker = async ({ recordsAt }) => makeEdit(sets, await recordsAt(names));
  const explain = ([first]: readonly EditProblem[]) => {
    const { list, index, message } = first as EditProblem;
    const set = list === 'replace' ? sets[index] : undefined;
    return set === undefined ? new Problem(422, message) : refuse(new Refused(set.label, message));
  };
  return saveJudged({ ...call, domain }, edit, explain, { dryRun });
}

export const EXTERNAL_DNS_ROUTES: readonly Route[] = [
  ...negotiate,
  listEndpoints,
  adjustEndpoints,
  applyChanges,
];
