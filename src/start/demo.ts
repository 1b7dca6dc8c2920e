// The demo: one small customer domain of the first admin, created at the first start on a database without zones. If it is
// deleted, it is not created again.

import { parseName } from '../dns/name.ts';
import type { ChangedBy } from '../store/accounts/actor.ts';
import { ensureFirstAdmin } from '../store/accounts/first-admin.ts';
import { createDomain } from '../store/change/save-domain.ts';
import { saveEdit } from '../store/change/save-edit.ts';
import { isFirstStart, rememberStart } from '../store/migrate/first-start.ts';
import type { Database } from '../store/postgres/database.ts';
import { inTransaction } from '../store/postgres/transaction.ts';
import { parseEdit, type RecordText } from '../zone/edit/parse-edit.ts';

export const DEMO_APEX = 'zonefleet.example.';
/** A name of the demo with an address: of the edge if there is one, otherwise of the origin. */
export const DEMO_NAME = 'www.zonefleet.example';

/** Uses reserved names (RFC 2606) and documentation addresses (RFC 5737, RFC 3849). */
function demoRecords(hasEdge: boolean): RecordText[] {
  return [
    { name: '@', type: 'A', destination: '192.0.2.10' },
    { name: '@', type: 'AAAA', destination: '2001:db8::10' },
    { name: '@', type: 'MX', destination: 'mail.zonefleet.example', mx_priority: 10 },
    { name: '@', type: 'TXT', destination: 'v=spf1 mx -all' },
    { name: '@', type: 'CAA', destination: '0 issue "ca.example.net"' },
    { name: 'ns1', type: 'A', destination: '192.0.2.53' },
    { name: 'ns2', type: 'A', destination: '198.51.100.53' },
    { name: 'www', type: 'A', destination: '192.0.2.10', proxied: hasEdge, comment: 'the origin' },
    { name: 'blog', type: 'CNAME', destination: 'www.zonefleet.example' },
    { name: 'mail', type: 'A', destination: '192.0.2.25' },
    { name: '_dmarc', type: 'TXT', destination: 'v=DMARC1; p=reject' },
    { name: '_sip._tcp', type: 'SRV', destination: '10 5 5060 mail.zonefleet.example' },
    { name: '*.shop', type: 'A', destination: '192.0.2.20', ttl: 60 },
  ];
}

/** Creates everything or nothing, so that an interrupted start is completed by the next one. */
export async function loadDemoOnce(db: Database, hasEdge: boolean): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (await isFirstStart(trx)) await loadDemo(trx, hasEdge);
    await rememberStart(trx);
  });
}

async function loadDemo(trx: Database, hasEdge: boolean): Promise<void> {
  const by: ChangedBy = { by: { kind: 'system', name: 'npm start' }, source: 'demo' };
  const name = parseName(DEMO_APEX);
  const created = await createDomain(trx, {
    ...by,
    accountId: await ensureFirstAdmin(trx),
    name,
    unicode: DEMO_APEX.slice(0, -1),
    dnsMode: 'managed',
    exempt: true,
    isChecked: false, // the name is reserved: its parent has nothing to check
  });
  if (created.kind !== 'created') throw new Error(`the demo domain cannot be created: ${created.message}`);
  const parsed = parseEdit({ create: demoRecords(hasEdge) }, name);
  if (parsed.kind === 'problems') throw new Error(`the demo zone is invalid: ${parsed.problems[0]?.message}`);
  const saved = await saveEdit(trx, { ...by, domainId: created.domain.id, edit: parsed.edit });
  if (saved.kind !== 'saved') throw new Error(`the demo records cannot be saved: ${JSON.stringify(saved)}`);
}
