// Routes for the metadata of zones. Kinds for transfers and dynamic update read and write the settings of the domain. A few
// other kinds are stored without effect.

import { z } from 'zod';
import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { notFound, Problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { domain, type Route } from '../../api/calls/route.ts';
import { compatRoute } from '../../api/compat/compat-route.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { listSecondaries } from '../../store/transfers/peers.ts';
import {
  listDomainGrants,
  MOST_GRANTS,
  replaceDomainGrants,
  type StoredUpdateGrant,
} from '../../store/updates/grants.ts';
import { describeGrant } from '../updates/rules.ts';
import { saveWantedZone } from './primaries.ts';
import { readBody, refuse } from './rules.ts';
import { isOfSecondaries, metadataKind, OF_SECONDARIES, valuesOf } from './rules-metadata.ts';
import { auditEdit, keyIdsOf, saveSecondaries } from './secondaries.ts';
import { loadFacts, saveProperties } from './sql.ts';
import { PDNS, ZONE } from './surface.ts';

const METADATA = `${ZONE}/metadata`;
const ITEM = { path: `${METADATA}/{kind}`, params: z.object({ kind: z.string().max(64) }) };
const READ = domain('domain.settings', { whileDisabled: true, wholeKeys: true });
const WRITE = domain('domain.settings');

const MAX_VALUES = 32;
const MAX_CHARACTERS = 1024;

type MetadataCall = CallOf<'domain'>;
type Values = Map<string, readonly string[]>;

/** Loads the values of metadata by kind, without kinds that have none. */
async function loadMetadata({ api, domain: { id, name } }: MetadataCall): Promise<Values> {
  const secondaries = await listSecondaries(api.db, id);
  const facts = (await loadFacts(api.db, [id])).get(id);
  const grants = (await listDomainGrants(api.db, id)).filter((grant) => isWhole(grant, name));
  const all: [string, readonly string[]][] = [
    ...OF_SECONDARIES.map((kind): [string, string[]] => [kind, valuesOf(kind, secondaries)]),
    ['AXFR-MASTER-TSIG', [...new Set(facts?.primaryKeys)]],
    ['TSIG-ALLOW-DNSUPDATE', grants.map(({ keyName }) => keyName)],
    ...Object.entries(facts?.properties ?? {}).filter(([kind]) => metadataKind(kind) === 'stored'),
  ];
  return new Map(all.filter(([, values]) => values.length > 0));
}

/** Returns true if the grant allows changes of every record of the zone, as TSIG-ALLOW-DNSUPDATE does. */
function isWhole({ match, owner, types }: StoredUpdateGrant, apex: StoredUpdateGrant['owner']): boolean {
  return match === 'subtree' && owner === apex && types === null;
}

function printMetadata(kind: string, metadata: readonly string[]): object {
  return { type: 'Metadata', kind, metadata };
}

const listMetadata = compatRoute(PDNS, READ, {
  method: 'GET',
  path: METADATA,
  operationId: 'pdnsListMetadata',
  async run(call) {
    const values = [...(await loadMetadata(call))].sort(([a], [b]) => (a < b ? -1 : 1));
    return CompatAnswer.json(values.map(([kind, metadata]) => printMetadata(kind, metadata)));
  },
});

const getMetadata = compatRoute(PDNS, READ, {
  ...ITEM,
  method: 'GET',
  operationId: 'pdnsGetMetadata',
  async run(call) {
    const kind = String(call.params.kind);
    if (metadataKind(kind) === undefined) return unsupported(kind);
    return CompatAnswer.json(printMetadata(kind, (await loadMetadata(call)).get(kind) ?? []));
  },
});

const addMetadata = compatRoute(PDNS, WRITE, {
  method: 'POST',
  path: METADATA,
  operationId: 'pdnsAddMetadata',
  audit: { inHandler: 'secondaries.edit' },
  async run(call) {
    const members = readBody(call.body);
    if (members instanceof Problem) return members;
    const { kind, metadata } = members;
    if (typeof kind !== 'string') return refuse('kind is not specified or not a string');
    return await saveMetadata(call, kind, metadata, { isAdded: true });
  },
});

const setMetadata = compatRoute(PDNS, WRITE, {
  ...ITEM,
  method: 'PUT',
  operationId: 'pdnsSetMetadata',
  audit: { inHandler: 'secondaries.edit' },
  async run(call) {
    const members = readBody(call.body);
    return members instanceof Problem
      ? members
      : await saveMetadata(call, String(call.params.kind), members.metadata);
  },
});

const deleteMetadata = compatRoute(PDNS, WRITE, {
  ...ITEM,
  method: 'DELETE',
  operationId: 'pdnsDeleteMetadata',
  audit: { inHandler: 'secondaries.edit' },
  async run(call) {
    const saved = await saveMetadata(call, String(call.params.kind), []);
    return saved instanceof Problem ? saved : new CompatAnswer('');
  },
});

async function saveMetadata(
  call: MetadataCall,
  kind: string,
  metadata: unknown,
  { isAdded = false } = {},
): Promise<CompatAnswer | Problem> {
  const sort = metadataKind(kind);
  if (sort === undefined) return unsupported(kind);
  if (sort === 'none') return refuse(`Unsupported metadata kind '${kind}': it has no equivalent here`);
  const given = readValues(metadata);
  if (given instanceof Problem) return given;
  const { api } = call;
  const saved = await inTransaction(api.db, async (trx): Promise<readonly string[] | Problem> => {
    const inside = { ...call, api: { ...api, db: trx } };
    const before = isAdded ? ((await loadMetadata(inside)).get(kind) ?? []) : [];
    const values = [...new Set([...before, ...given])];
    if (values.length > MAX_VALUES) return refuse(`${kind}: at most ${MAX_VALUES} values`);
    const refused = await SAVE[sort](inside, kind, values);
    return refused === undefined ? ((await loadMetadata(inside)).get(kind) ?? []) : rollBackTo(refused);
  });
  if (saved instanceof Problem) return saved;
  return CompatAnswer.json(printMetadata(kind, saved), { status: isAdded ? 201 : 200 });
}

function readValues(metadata: unknown): readonly string[] | Problem {
  if (!Array.isArray(metadata)) return refuse('metadata is not specified or not an array');
  if (!metadata.every((value): value is string => typeof value === 'string'))
    return refuse('metadata must be strings');
  if (metadata.length > MAX_VALUES) return refuse(`metadata: at most ${MAX_VALUES} values`);
  const isLong = metadata.some((value) => value.length > MAX_CHARACTERS);
  return isLong ? refuse(`metadata: a value has more than ${MAX_CHARACTERS} characters`) : metadata;
}

function unsupported(kind: string): Problem {
  return refuse(`Unsupported metadata kind '${kind.slice(0, 64)}'`);
}

type SaveKind = (call: MetadataCall, kind: string, values: readonly string[]) => Promise<Problem | undefined>;

const SAVE: Readonly<Record<'secondaries' | 'primaries' | 'grants' | 'stored', SaveKind>> = {
  secondaries: async (call, kind, values) =>
    isOfSecondaries(kind) ? await saveSecondaries(call, kind, values) : unsupported(kind),
  primaries: async (call, _, values) => {
    const facts = (await loadFacts(call.api.db, [call.domain.id])).get(call.domain.id);
    if (facts?.masters.length === 0) return refuse('AXFR-MASTER-TSIG: the zone has no masters');
    return await saveWantedZone(call, { primaryKeys: values });
  },
  grants: saveGrants,
  stored: async ({ api, domain: { id } }, kind, values) =>
    (await saveProperties(api.db, id, { [kind]: values })) ? undefined : refuse('too many kinds of metadata'),
};

async function saveGrants(
  call: MetadataCall,
  kind: string,
  values: readonly string[],
): Promise<Problem | undefined> {
  const { api, domain: zone } = call;
  const found = await keyIdsOf(call, kind, values);
  if (found instanceof Problem) return found;
  const keyIds = [...new Set(found)];
  const before = await listDomainGrants(api.db, zone.id);
  const whole = before.filter((grant) => isWhole(grant, zone.name));
  const others = before.filter((grant) => !whole.includes(grant));
  const kept = whole.filter(({ keyId }) => keyIds.includes(keyId));
  const fresh = keyIds
    .filter((keyId) => !kept.some((grant) => grant.keyId === keyId))
    .map(
      (keyId) => ({ keyId, match: 'subtree', owner: zone.name, types: null, editsOrigin: false }) as const,
    );
  const wanted = [...others, ...kept, ...fresh];
  if (wanted.length > MOST_GRANTS) return refuse(`${kind}: a zone may have ${MOST_GRANTS} grants`);
  const replaced = await replaceDomainGrants(api.db, zone, wanted);
  if (replaced.kind === 'absent') return notFound('domain');
  if (replaced.kind === 'unknown_key')
    return refuse(`${kind}: expected a key that was created here, not imported`);
  const after = await listDomainGrants(api.db, zone.id);
  const describe = (grants: typeof before) => ({ grants: grants.map(describeGrant) });
  await auditEdit(call, 'update_grants.edit', describe(before), describe(after));
  return undefined;
}

export const METADATA_ROUTES: readonly Route[] = [
  listMetadata,
  getMetadata,
  addMetadata,
  setMetadata,
  deleteMetadata,
];
