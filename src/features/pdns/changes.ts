// Saves changes of record sets as one change of the domain. The service sets the SOA and NS records of the apex. A change to
// them is accepted only if it has no effect, or if it selects another of the domain's nameserver sets.

import { type RecordsCall, saveJudged } from '../../api/actions/save-records.ts';
import { notFound, Problem } from '../../api/answers/problem.ts';
import { judgeItems } from '../../api/body/body-bounds.ts';
import { asActor, mayDo, writesRecordsOnly } from '../../api/callers/caller.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { type Name, printName } from '../../dns/name.ts';
import { updateDomain } from '../../store/change/update-domain.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { loadSetKeys } from '../../store/records/load-records.ts';
import type { EditProblem } from '../../zone/edit/edit.ts';
import { findSet } from '../../zone/publish/select-nameservers.ts';
import { setKey } from '../../zone/records/customer-record.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { soaOf } from './print.ts';
import { refuse } from './rules.ts';
import { editOf, isSameSoa, namesOf } from './rules-edit.ts';
import { type Change, MAX_RRSETS, nameserversAfter, type SetChange, type SoaChange } from './rules-rrsets.ts';

/** Maximum number of nameservers in a request. */
export const MAX_NAMESERVERS = 32;

interface Serials {
  readonly before: number;
  readonly after: number;
}

interface Options {
  /** True if sets that the changes do not name are deleted. */
  readonly isWhole?: boolean;
}

type ZoneCall = Pick<CallOf<'domain'>, keyof RecordsCall>;

export async function saveChanges(
  call: ZoneCall,
  changes: readonly Change[],
  options: Options = {},
): Promise<Serials | Problem> {
  const { domain, api } = call;
  const soas = changes.filter((change) => change.type === 'SOA');
  const sets = changes.filter((change) => change.type !== 'SOA');
  const ownNs = sets.filter(({ name, type }) => type === 'NS' && name === domain.name);
  const others = sets.filter((change) => !ownNs.includes(change));
  const items = others.reduce((count, { records = [] }) => count + Math.max(1, records.length), 0);
  const tooMany = judgeItems(items, { largeBody: true, maxItems: MAX_RRSETS }, domain.plan);
  if (tooMany !== undefined) return tooMany;
  const wrongSoa = soas.length === 0 ? undefined : await judgeSoas(call, soas);
  if (wrongSoa !== undefined) return wrongSoa;
  const chosen = chooseNameservers(domain, ownNs);
  if (chosen instanceof Problem) return chosen;
  if (chosen === undefined) return await saveSets(call, others, options);
  const { caller } = call;
  if (!mayDo(domain.myRole, 'domain.settings') || writesRecordsOnly(caller.key))
    return new Problem(403, 'this API key may not select other nameservers');
  return await inTransaction(api.db, async (trx): Promise<Serials | Problem> => {
    const inside = { ...call, api: { ...api, db: trx } };
    const saved = (await selectNameservers(inside, chosen)) ?? (await saveSets(inside, others, options));
    return saved instanceof Problem ? rollBackTo(saved) : { ...saved, before: domain.serial };
  });
}

async function saveSets(
  call: RecordsCall,
  changes: readonly SetChange[],
  { isWhole = false }: Options,
): Promise<Serials | Problem> {
  let before = call.domain.serial;
  let listed = changes;
  const saved = await saveJudged(
    call,
    async (locked) => {
      before = locked.serial;
      if (isWhole) listed = withDeletes(changes, await loadSetKeys(locked.trx, call.domain.id));
      return editOf(listed, await locked.recordsAt(namesOf(listed)));
    },
    (problems) => explain(problems, listed),
    { source: 'pdns' },
  );
  if (saved instanceof Problem) return saved;
  return { before, after: saved.kind === 'dry_run' ? before : saved.serial };
}

/** Adds the deletion of every other set of the domain. `keys` are those of all its sets. */
function withDeletes(changes: readonly SetChange[], keys: Iterable<string>): readonly SetChange[] {
  const named = new Set(changes.map(({ name, type }) => setKey(name, type)));
  const deletes = [...keys]
    .filter((key) => !named.has(key))
    .map((key): SetChange => {
      const at = key.indexOf(' ');
      const [type, name] = [key.slice(0, at) as ApiType, key.slice(at + 1) as Name];
      const label = `RRset ${printName(name)} IN ${type}`;
      return { name, type, change: 'DELETE', label, ttl: undefined, records: [], comments: undefined };
    });
  return [...changes, ...deletes];
}

const MAX_ERRORS = 20;

function explain(problems: readonly EditProblem[], changes: readonly SetChange[]): Problem {
  const fields = problems.slice(0, MAX_ERRORS).map(({ index, message }) => ({
    field: changes[index]?.label ?? 'rrsets',
    error: message,
  }));
  const [first] = fields;
  return new Problem(422, first === undefined ? 'refused' : `${first.field}: ${first.error}`, {
    members: { fields },
  });
}

async function judgeSoas(
  { api, domain }: ZoneCall,
  changes: readonly SoaChange[],
): Promise<Problem | undefined> {
  const { rname } = await loadPublishSettings(api.db);
  const current = soaOf(domain, domain.serial, rname)?.records[0]?.content ?? '';
  const wrong = changes.find(
    ({ name, change, soas }) =>
      name !== domain.name ||
      change !== 'REPLACE' ||
      soas.length !== 1 ||
      !isSameSoa(soas[0] as string, current),
  );
  return wrong && refuse(`${wrong.label}: the service sets the SOA record: only its serial may differ`);
}

/** Returns the nameserver set that the changes select. Returns undefined if they do not change it. */
function chooseNameservers(
  domain: VisibleDomain,
  changes: readonly SetChange[],
): readonly Name[] | Problem | undefined {
  const [last] = changes.slice(-1);
  if (last === undefined) return undefined;
  const count = changes.reduce((sum, { records = [] }) => sum + Math.max(1, records.length), 0);
  if (count > MAX_NAMESERVERS)
    return refuse(`${last.label}: expected at most ${MAX_NAMESERVERS} nameservers`);
  const [current = []] = domain.nameserverSets;
  const names = changes.reduce((before, change) => nameserversAfter(change, before), current);
  return judgeNameservers(domain, names, last.label);
}

/** Describes the accepted nameserver sets. */
function listSets(sets: readonly (readonly Name[])[]): string {
  if (sets.length === 0) return 'none, because the zone is not delegated to this service';
  return sets.map((set) => set.map(printName).join(' ')).join(', or ');
}

/** Returns the accepted set with these names. Returns undefined if the domain already has it. */
export function judgeNameservers(
  { nameserverSets: sets }: VisibleDomain,
  names: readonly Name[],
  label: string,
): readonly Name[] | Problem | undefined {
  const found = findSet(names, sets);
  if (found !== undefined) return found === sets[0] ? undefined : found;
  return refuse(`${label}: the service sets the nameservers of the zone; expected ${listSets(sets)}`);
}

export async function selectNameservers(
  { api, caller, domain }: RecordsCall,
  nameservers: readonly Name[],
): Promise<Problem | undefined> {
  const updated = await updateDomain(api.db, {
    ...{ domainId: domain.id, ownerId: domain.accountId, set: { nameservers } },
    ...{ by: asActor(caller), source: 'pdns', exempt: caller.account.isAdmin },
  });
  if (updated.kind === 'absent') return notFound('domain');
  return updated.kind === 'refused' ? refuse(updated.message) : undefined;
}
