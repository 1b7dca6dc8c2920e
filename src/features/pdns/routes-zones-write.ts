// Routes that create, change and delete zones, and routes that order NOTIFY and transfers.

import { z } from 'zod';
import { createOwnDomain } from '../../api/actions/create-domain.ts';
import { refuseDnssec } from '../../api/actions/refuse-dnssec.ts';
import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { notFound, Problem } from '../../api/answers/problem.ts';
import { asActor, asStoreCaller } from '../../api/callers/caller.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { account, domain, type Route } from '../../api/calls/route.ts';
import { compatRoute } from '../../api/compat/compat-route.ts';
import { type Name, printName } from '../../dns/name.ts';
import { countInWindow } from '../../store/accounts/rate-windows.ts';
import { deleteDomain } from '../../store/change/save-domain.ts';
import { disableDnssec, enableDnssec } from '../../store/dnssec/change-goal.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { loadVisibleById } from '../../store/domains/load-domains.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { orderNotify } from '../../store/transfers/policies.ts';
import { orderRetransfer } from '../secondaries/sql-domain.ts';
import { judgeNameservers, MAX_NAMESERVERS, saveChanges, selectNameservers } from './changes.ts';
import { readWantedZone, saveWantedZone, type WantedZone } from './primaries.ts';
import { printMaster } from './print.ts';
import { showZone } from './routes-zones-read.ts';
import { type JsonObject, judgeTypes, readBody, readCanonical, refuse, textIn, textsIn } from './rules.ts';
import { type Change, MAX_RRSETS, readChanges, readContent } from './rules-rrsets.ts';
import { loadFacts } from './sql.ts';
import { NO_CONTENT, PDNS, ZONE, ZONES } from './surface.ts';

const text = z.string().max(1100).optional();
const JSON_TYPE = { type: 'application/json' };

type NewZone = Readonly<{
  text: string;
  nameservers: readonly Name[];
  /** Undefined if the request has no `rrsets`. */
  changes: readonly Change[] | undefined;
  wanted: WantedZone;
}>;

const createZone = compatRoute(PDNS, account(), {
  method: 'POST',
  path: ZONES,
  operationId: 'pdnsCreateZone',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_RRSETS,
  query: z.looseObject({ rrsets: text }),
  async run(call) {
    const { api, caller } = call;
    const members = readBody(call.body);
    if (members instanceof Problem) return members;
    const read = readNewZone(members);
    if (read instanceof Problem) return read;
    const created = await inTransaction(api.db, async (trx): Promise<VisibleDomain | Problem> => {
      const made = await create({ ...call, api: { ...api, db: trx } }, read);
      if (made instanceof Problem) return rollBackTo(made);
      // Loads the zone again, because its serial may have changed.
      return (await loadVisibleById(trx, asStoreCaller(caller), made.id)) ?? rollBackTo(notFound('domain'));
    });
    if (created instanceof Problem) return created;
    const shown = await showZone(api.db, created, { rrsets: call.query.rrsets }, 201);
    return shown instanceof Problem ? shown : await readWhole(shown);
  },
});

/** Reads the whole body, because threads do not stream. It is about as large as the request. */
async function readWhole({ body, status }: CompatAnswer): Promise<CompatAnswer> {
  let text = '';
  if (typeof body === 'string') text = body;
  else if (body !== undefined) for await (const piece of body) text += piece;
  return new CompatAnswer(text, { ...JSON_TYPE, status });
}

function readNewZone(members: JsonObject): NewZone | Problem {
  const nameText = textIn(members, 'name');
  if (nameText instanceof Problem) return nameText;
  const name = readCanonical(nameText);
  if (name instanceof Problem) return name;
  const wanted = readWantedZone(members);
  if (wanted instanceof Problem) return wanted;
  const listed = textsIn(members, 'nameservers', MAX_NAMESERVERS);
  if (listed instanceof Problem) return listed;
  const nameservers: Name[] = [];
  for (const each of listed ?? []) {
    const nameserver = readCanonical(each);
    if (nameserver instanceof Problem) return nameserver;
    nameservers.push(nameserver);
  }
  const { rrsets, zone } = members;
  const wrongType = judgeTypes(members, 'String', ['zone']);
  if (wrongType !== undefined) return wrongType;
  if (typeof zone === 'string' && zone !== '')
    return refuse('zone: zone files are not read here; send `rrsets`, or import the file with the console');
  const changes = readContent(rrsets, name);
  if (changes instanceof Problem) return changes;
  if (wanted.kind === 'Slave' && (changes ?? []).length > 0)
    return refuse('rrsets: the records of a zone of kind Slave come from its masters');
  return { text: nameText, nameservers, changes, wanted };
}

async function create(
  call: CallOf<'account'>,
  { text, nameservers, changes = [], wanted }: NewZone,
): Promise<VisibleDomain | Problem> {
  // The fleet cannot sign the copy of another server's zone.
  const dnssec = wanted.kind === 'Slave' ? (wanted.dnssec ?? false) : wanted.dnssec;
  const body = { name: text, dns_mode: 'managed', scan: false, transfer: false, dnssec } as const;
  const created = await createOwnDomain(call, body, 'pdns');
  if (created instanceof Problem) return created;
  const zone: VisibleDomain = { ...created.domain, myRole: 'owner' };
  const onZone = { ...call, domain: zone };
  const chosen = nameservers.length === 0 ? undefined : judgeNameservers(zone, nameservers, 'nameservers');
  if (chosen instanceof Problem) return chosen;
  const refused =
    (chosen && (await selectNameservers(onZone, chosen))) ?? (await saveWantedZone(onZone, wanted));
  if (refused !== undefined) return refused;
  if (changes.length === 0) return zone;
  const saved = await saveChanges(onZone, changes);
  return saved instanceof Problem ? saved : zone;
}

function orderOf({ caller, domain: { id, accountId } }: Pick<CallOf<'domain'>, 'caller' | 'domain'>) {
  return { domainId: id, ownerId: accountId, by: asActor(caller), source: 'pdns' } as const;
}

const updateZone = compatRoute(PDNS, domain('domain.settings'), {
  method: 'PUT',
  path: ZONE,
  operationId: 'pdnsUpdateZone',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_RRSETS,
  async run(call) {
    const { api, domain: zone } = call;
    const members = readBody(call.body);
    if (members instanceof Problem) return members;
    const wanted = readWantedZone(members);
    if (wanted instanceof Problem) return wanted;
    const changes = readContent(members.rrsets, zone.name);
    if (changes instanceof Problem) return changes;
    const refused = await inTransaction(api.db, async (trx): Promise<Problem | undefined> => {
      const inside = { ...call, api: { ...api, db: trx } };
      const wrong =
        (await saveWantedZone(inside, wanted)) ??
        (await saveGoal(inside, wanted)) ??
        (changes && (await saveChanges(inside, changes, { isWhole: true })));
      return wrong instanceof Problem ? rollBackTo(wrong) : undefined;
    });
    return refused ?? NO_CONTENT;
  },
});

async function saveGoal(
  call: CallOf<'domain'>,
  { dnssec }: Pick<WantedZone, 'dnssec'>,
): Promise<Problem | undefined> {
  if (dnssec === undefined) return undefined;
  const changed = await (dnssec ? enableDnssec : disableDnssec)(call.api.db, orderOf(call));
  if (changed.kind === 'absent') return notFound('domain');
  return changed.kind === 'refused' ? refuseDnssec(changed) : undefined;
}

const deleteZone = compatRoute(PDNS, domain('domain.delete', { whileDisabled: true }), {
  method: 'DELETE',
  path: ZONE,
  operationId: 'pdnsDeleteZone',
  audit: 'changes',
  async run(call) {
    const deleted = await deleteDomain(call.api.db, orderOf(call));
    return deleted.kind === 'absent' ? notFound('domain') : NO_CONTENT;
  },
});

/** Limit of orders per zone. Others are only acknowledged, because nodes send NOTIFY after each change anyway. */
const NOTIFIES = { limit: 12, seconds: 60 };

/** Also allowed for keys that may write only certain records, because lego calls it after each change. */
const notify = compatRoute(PDNS, domain('records.edit', { writesRecords: true }), {
  method: 'PUT',
  path: `${ZONE}/notify`,
  operationId: 'pdnsNotify',
  audit: { none: 'it changes nothing' },
  async run({ api, domain: { id, name, served } }) {
    // Several domains may have the name. The zone belongs to the one whose records are all served.
    await inTransaction(api.db, async (trx) => {
      if (served !== 'full') return;
      if ((await countInWindow(trx, `notifies in a minute:${id}`, NOTIFIES)) === undefined)
        await orderNotify(trx, [encodeNameColumn(name)]);
    });
    return CompatAnswer.json({ result: 'Notification queued' });
  },
});

const retrieve = compatRoute(PDNS, domain('domain.settings'), {
  method: 'PUT',
  path: `${ZONE}/axfr-retrieve`,
  operationId: 'pdnsRetrieve',
  audit: 'primaries.retransfer',
  async run({ api, domain: { id, name }, audit }) {
    const ordered = await orderRetransfer(api.db, id);
    if (ordered.kind === 'no_copy')
      return refuse(`Domain '${printName(name)}' is not a slave domain (or has no master defined)`);
    if (ordered.kind === 'limited')
      return new Problem(429, 'rate limit exceeded', {
        headers: { 'Retry-After': String(ordered.retrySeconds) },
      });
    audit();
    const master = (await loadFacts(api.db, [id])).get(id)?.masters[0];
    const from = master === undefined ? '' : ` from master ${printMaster(master)}`;
    return CompatAnswer.json({ result: `Added retrieval request for '${printName(name)}'${from}` });
  },
});

const rectify = compatRoute(PDNS, domain('domain.view'), {
  method: 'PUT',
  writes: false,
  path: `${ZONE}/rectify`,
  operationId: 'pdnsRectify',
  audit: { none: 'it changes nothing' },
  run: () => CompatAnswer.json({ result: 'Rectified' }),
});

const patchZone = compatRoute(PDNS, domain('records.edit', { writesRecords: true }), {
  method: 'PATCH',
  path: ZONE,
  operationId: 'pdnsPatchZone',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_RRSETS,
  async run(call) {
    const members = readBody(call.body);
    if (members instanceof Problem) return members;
    const changes = readChanges(members, call.domain.name);
    if (changes instanceof Problem) return changes;
    const saved = await saveChanges(call, changes);
    if (saved instanceof Problem) return saved;
    return new CompatAnswer(undefined, {
      status: 204,
      headers: { 'X-PDNS-Old-Serial': String(saved.before), 'X-PDNS-New-Serial': String(saved.after) },
    });
  },
});

export const ZONE_WRITE_ROUTES: readonly Route[] = [
  createZone,
  updateZone,
  patchZone,
  deleteZone,
  notify,
  retrieve,
  rectify,
];
