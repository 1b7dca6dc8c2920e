// Reads and saves the properties of a zone: its kind, its masters, its TSIG keys, and those that are stored without effect.

import { answerWrite, type RecordsCall } from '../../api/actions/save-records.ts';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import { lockDomainAndNames } from '../../store/change/lock-domain.ts';
import { MOST_KEYS } from '../../store/transfers/keys.ts';
import { describePrimaries } from '../secondaries/print.ts';
import { MOST_PRIMARIES } from '../secondaries/rules.ts';
import { type CopiedDomain, endCopy, loadCopiedDomain, replacePrimaries } from '../secondaries/sql-domain.ts';
import { isPeerPort, readServer, refusedAddress, WRONG_PORT } from '../transfers/rules.ts';
import { PEER_NETWORKS } from '../transfers/services.ts';
import { type JsonObject, judgeTypes, readKind, refuse, textsIn, type ZoneKind } from './rules.ts';
import { auditEdit, keyIdsOf, saveSecondaries } from './secondaries.ts';
import { type Properties, saveProperties } from './sql.ts';

interface WantedMaster {
  readonly address: string;
  readonly port: number;
}

/** Properties that a request sets. Absent properties do not change. */
export interface WantedZone {
  readonly kind?: ZoneKind | undefined;
  readonly masters?: readonly WantedMaster[] | undefined;
  /** Names of the keys with which masters are queried. */
  readonly primaryKeys?: readonly string[] | undefined;
  /** Names of the keys with which secondaries transfer the zone. */
  readonly transferKeys?: readonly string[] | undefined;
  readonly dnssec?: boolean | undefined;
  readonly properties?: Properties;
}

const MAX_CHARACTERS = 255;
/** Members for features of PowerDNS that this service does not have. */
const REFUSED = ['catalog', 'nsec3param'];

/** Reads the properties of a zone. All members are optional. */
export function readWantedZone(members: JsonObject): WantedZone | Problem {
  const { kind: kindText, dnssec } = members;
  const wrong =
    judgeTypes(members, 'String', ['kind', ...TEXTS.map(([member]) => member), ...REFUSED]) ??
    judgeTypes(members, 'Bool', ['dnssec', 'api_rectify']);
  if (wrong !== undefined) return wrong;
  const kind = typeof kindText === 'string' && kindText !== '' ? readKind(kindText) : undefined;
  if (kind instanceof Problem) return kind;
  const texts = textsIn(members, 'masters', MOST_PRIMARIES);
  if (texts instanceof Problem) return texts;
  const primaryKeys = textsIn(members, 'slave_tsig_key_ids', MOST_KEYS);
  if (primaryKeys instanceof Problem) return primaryKeys;
  const transferKeys = textsIn(members, 'master_tsig_key_ids', MOST_KEYS);
  if (transferKeys instanceof Problem) return transferKeys;
  const refused = REFUSED.find((member) => typeof members[member] === 'string' && members[member] !== '');
  if (refused !== undefined) return refuse(`${refused}: cannot be set here`);
  const masters: WantedMaster[] = [];
  for (const text of texts ?? []) {
    const server = readServer(text);
    if (server === undefined) return refuse(`Master (${text.slice(0, 100)}) is not an IP address`);
    if (!isPeerPort(server.port)) return refuse(`Master (${text.slice(0, 100)}): port: ${WRONG_PORT}`);
    const isNew = masters.every(({ address, port }) => address !== server.address || port !== server.port);
    if (isNew) masters.push(server);
  }
  const properties: Record<string, readonly string[]> = {};
  if (kind !== undefined && kind !== 'Slave') properties.kind = [kind];
  for (const [member, stored] of TEXTS) {
    const value = members[member];
    if (typeof value !== 'string') continue;
    if (value.length > MAX_CHARACTERS) return refuse(`${member} has more than ${MAX_CHARACTERS} characters`);
    properties[stored] = value === '' && member !== 'soa_edit_api' ? [] : [value];
  }
  if (typeof members.api_rectify === 'boolean') properties['API-RECTIFY'] = members.api_rectify ? ['1'] : [];
  return {
    kind,
    masters: texts && masters,
    primaryKeys,
    transferKeys,
    dnssec: typeof dnssec === 'boolean' ? dnssec : undefined,
    properties,
  };
}

const TEXTS = [
  ['account', 'account'],
  ['soa_edit', 'SOA-EDIT'],
  ['soa_edit_api', 'SOA-EDIT-API'],
] as const;

/** Saves the properties. Must be called within a transaction. */
export async function saveWantedZone(call: RecordsCall, wanted: WantedZone): Promise<Problem | undefined> {
  const { api, domain } = call;
  // Lock first: a foreign key would lock the row partly, and two such transactions would then wait for each other.
  await lockDomainAndNames(api.db, domain.id);
  const keys = wanted.transferKeys;
  const unsaved = keys && (await saveSecondaries(call, 'TSIG-ALLOW-AXFR', keys));
  if (unsaved !== undefined) return unsaved;
  const { properties = {} } = wanted;
  if (!(await saveProperties(api.db, domain.id, properties))) return refuse('too many kinds of metadata');
  const before = await loadCopiedDomain(api.db, domain.id);
  const isSlave = wanted.kind === undefined ? before.primaries.length > 0 : wanted.kind === 'Slave';
  if (!isSlave) {
    if ((wanted.masters ?? []).length > 0) return refuse('masters: only a zone of kind Slave has masters');
    return before.primaries.length === 0 ? undefined : await endSlave(call, before);
  }
  if (wanted.masters === undefined && wanted.primaryKeys === undefined) {
    return before.primaries.length > 0 ? undefined : refuse('masters: a zone of kind Slave needs a master');
  }
  return await saveMasters(call, wanted, before);
}

async function saveMasters(
  call: RecordsCall,
  { masters, primaryKeys }: WantedZone,
  before: CopiedDomain,
): Promise<Problem | undefined> {
  const { api, domain } = call;
  const servers = masters ?? before.primaries;
  if (servers.length === 0) return refuse('masters: a zone of kind Slave needs a master');
  if (primaryKeys !== undefined && primaryKeys.length > 1)
    return refuse('slave_tsig_key_ids: expected one key for all masters');
  const keys = primaryKeys && (await keyIdsOf(call, 'slave_tsig_key_ids', primaryKeys));
  if (keys instanceof Problem) return keys;
  const refused = refusedAddress(
    servers.map(({ address }) => address),
    api.services.get(PEER_NETWORKS) ?? [],
  );
  if (refused !== undefined) return problem('address_refused', `${refused} is not a public address`);
  const list = servers.map(({ address, port }) => {
    const known = before.primaries.find((each) => each.address === address && each.port === port);
    return { address, port, keyId: (keys === undefined ? known?.keyId : keys[0]) ?? null };
  });
  const replaced = await replacePrimaries(api.db, domain, list);
  switch (replaced.kind) {
    case 'replaced':
      return await auditPrimaries(call, before);
    case 'absent':
      return notFound('domain');
    case 'external':
      return refuse('the domain is in external mode: only domains in managed mode can be copies');
    case 'signed':
      return refuse('DNSSEC is enabled for the zone: disable it before it becomes a Slave');
    case 'unknown_key':
      return refuse("slave_tsig_key_ids: expected a key that the zone's owner imported");
    default:
      return replaced satisfies never;
  }
}

async function endSlave(call: RecordsCall, before: CopiedDomain): Promise<Problem | undefined> {
  const { api, caller, domain } = call;
  const ended = await endCopy(api.db, domain, { by: asActor(caller), source: 'pdns' });
  if (ended.kind === 'absent') return notFound('domain');
  if (ended.kind === 'refused') {
    const refused = answerWrite(call, ended.saved, ([first]) => refuse(first?.message ?? 'refused'));
    return refused instanceof Problem ? refused : undefined;
  }
  return ended.kind === 'no_copy' ? undefined : await auditPrimaries(call, before);
}

async function auditPrimaries(call: RecordsCall, before: CopiedDomain): Promise<undefined> {
  const after = await loadCopiedDomain(call.api.db, call.domain.id);
  await auditEdit(call, 'primaries.edit', describePrimaries(before), describePrimaries(after));
}
