// Prints how zones are signed, as a table, as text, or as JSON.

import type { Machine } from '../../checks/dnssec/machine.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { type DnssecFinding, dnssecFindings } from '../../checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import { registrarAction } from '../../checks/dnssec/told/registrar-action.ts';
import { DIGEST } from '../../dns/dnssec/ds-digest.ts';
import { type Name, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { loadKeyWork, loadToldDnssecOf } from '../../store/dnssec/dnssec-state.ts';
import { dsOf } from '../../store/keys/signed-zone.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listSigning, type ShownKey, type ShownSigning } from '../../store/signing/load-signing.ts';
import type { Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';

const UNSIGNED: readonly string[] = ['signing', 'unsigning', 'off'];

/** Digest types of DS records: operators enter the first; the second is for parents that do not accept it (RFC 8624 §3.3). */
const SHOWN_DIGESTS = [DIGEST.SHA256, DIGEST.SHA384];

export async function showSigning(db: Database, apexes: readonly Name[], output: Output): Promise<number> {
  const found = await Promise.all((await listSigning(db, apexes)).map((zone) => withMachine(db, zone)));
  const missing = apexes.filter((apex) => !found.some((zone) => zone.apex === apex));
  const isAll = missing.length === 0 && found.every(isDone);
  if (output.json) {
    await output.print(JSON.stringify({ zones: [...found.map(zoneJson), ...missing.map(unsignedJson)] }));
  } else {
    for (const zone of found) await output.print(zoneText(zone).join('\n'));
    for (const apex of missing) await output.complain(`${printName(apex)} is not signed`);
  }
  return isAll ? 0 : 1;
}

/** Adds the state of the key machine to a domain. Undefined if it has none. */
interface WithMachine extends ShownSigning {
  readonly machine?: Machine | undefined;
  readonly findings?: readonly DnssecFinding[];
}

async function withMachine(db: Database, zone: ShownSigning): Promise<WithMachine> {
  if (zone.kind === 'operator') return zone;
  const machine = (await loadToldDnssecOf(db, zone.id))?.machine ?? undefined;
  const work = await loadKeyWork(db, zone.id);
  if (machine === undefined || work === undefined) return { ...zone, machine };
  return { ...zone, machine, findings: dnssecFindings(machine, work.delegatedTo, Date.now(), RULES) };
}

function isDone(zone: WithMachine): boolean {
  return zone.machine === undefined ? !UNSIGNED.includes(zone.phase) : statusOf(zone) === 'secure';
}

function statusOf({ machine, status }: WithMachine): string {
  return machine === undefined ? status : dnssecStatus(machine, RULES);
}

interface ListFilter {
  readonly status?: string;
  /** True to list only zones whose next step is waiting. */
  readonly waiting?: boolean;
}

export async function listSigned(db: Database, filter: ListFilter, output: Output): Promise<number> {
  const { status: wanted, waiting = false } = filter;
  const zones = (await listSigning(db)).filter(
    ({ status, waitsFor }) => (wanted === undefined || status === wanted) && (!waiting || waitsFor !== null),
  );
  if (output.json) {
    await output.print(JSON.stringify({ zones: zones.map(zoneJson) }));
    return 0;
  }
  const rows = zones.map(({ apex, kind, status, waitsFor, denial, algorithm, expiresAt }) => [
    printName(apex),
    kind,
    status,
    waitsFor ?? '-',
    denial,
    algorithm,
    expiresAt?.toISOString().slice(0, 10) ?? '-',
  ]);
  await output.print(
    printTable(['ZONE', 'KIND', 'STATUS', 'WAITS FOR', 'DENIAL', 'ALGORITHM', 'SIGNED UNTIL'], rows),
  );
  return 0;
}

export async function showKeys(db: Database, apexes: readonly Name[], output: Output): Promise<number> {
  const found = await listSigning(db, apexes);
  const missing = apexes.filter((apex) => !found.some((zone) => zone.apex === apex));
  if (output.json) {
    await output.print(
      JSON.stringify({
        zones: found.map((zone) => ({ zone: printName(zone.apex), keys: zone.keys.map(keyJson) })),
      }),
    );
  } else {
    const rows = found.flatMap(({ apex, keys }) =>
      keys.map((key) => [
        printName(apex),
        key.id,
        key.tag,
        key.role,
        key.dnskey[3] as number,
        stateOf(key),
        key.signs,
        key.madeAt.toISOString().slice(0, 10),
      ]),
    );
    await output.print(
      printTable(['ZONE', 'KEY', 'TAG', 'ROLE', 'ALGORITHM', 'STATE', 'SIGNS', 'MADE'], rows),
    );
    for (const apex of missing) await output.complain(`${printName(apex)} has no keys`);
  }
  return missing.length === 0 ? 0 : 1;
}

/** Returns the keys whose DS the parent zone is to publish: those that sign keys. */
export function dsTexts({ apex, keys }: ShownSigning): string[] {
  return keys
    .filter(({ retiredAt, signs }) => retiredAt === null && (signs === 'keys' || signs === 'both'))
    .flatMap((key) => SHOWN_DIGESTS.map((digest) => printRdata(TYPE.DS, dsOf(apex, key, digest))));
}

function zoneText(zone: WithMachine): string[] {
  const { apex, kind, denial, algorithm, expiresAt, resignAt } = zone;
  const status = statusOf(zone);
  return [
    `${printName(apex)} ${kind === 'operator' ? 'operator zone' : 'domain'} ${status} ${denial} algorithm ${algorithm}`,
    ...(expiresAt === null ? [] : [`  signed until ${expiresAt.toISOString()}`]),
    ...(resignAt === null ? [] : [`  next signing from ${resignAt.toISOString()}`]),
    ...zone.keys.map((key) => `  key ${key.tag} ${key.role} ${stateOf(key)}`),
    ...(zone.machine === undefined ? [] : machineText(zone.machine)),
    ...(zone.findings ?? []).map(({ code, message }) => `  ${code}: ${message}`),
    ...shownDs(zone).map((text) => `  ${printName(apex)} DS ${text}`),
  ];
}

function machineText(machine: Machine): string[] {
  const { waiting } = machine;
  const until = waiting?.until === undefined ? '' : ` until ${new Date(waiting.until).toISOString()}`;
  return [
    ...(waiting === null ? [] : [`  waits for ${waiting.cause}${until}`]),
    `  ${registrarAction(machine, RULES).message}`,
  ];
}

/** Returns the DS records that can be entered at the parent now. */
function shownDs(zone: WithMachine): string[] {
  if (zone.machine !== undefined) return [...registrarAction(zone.machine, RULES).add];
  return UNSIGNED.includes(zone.phase) || zone.kind === 'domain' ? [] : dsTexts(zone);
}

function stateOf({ publishedAt, retiredAt, isDestroyed, origin }: ShownKey): string {
  if (retiredAt !== null) return isDestroyed ? 'destroyed' : 'withdrawn';
  if (publishedAt === null) return 'made';
  return origin === 'foreign' ? 'foreign' : 'published';
}

function zoneJson(zone: WithMachine): object {
  const { machine } = zone;
  return {
    zone: printName(zone.apex),
    kind: zone.kind,
    status: statusOf(zone),
    goal: zone.goal,
    denial: zone.denial,
    algorithm: zone.algorithm,
    split: zone.split,
    signed_until: zone.expiresAt?.toISOString() ?? null,
    signed_anew_from: zone.resignAt?.toISOString() ?? null,
    ds: shownDs(zone),
    ...(machine === undefined && zone.waitsFor !== null && { waits_for: { cause: zone.waitsFor } }),
    ...(machine && { waits_for: machine.waiting, registrar: registrarAction(machine, RULES) }),
    ...(zone.findings && { findings: zone.findings }),
    keys: zone.keys.map(keyJson),
  };
}

function unsignedJson(apex: Name): object {
  return { zone: printName(apex), status: 'off' };
}

function keyJson(key: ShownKey): object {
  return {
    id: key.id,
    key_tag: key.tag,
    role: key.role,
    algorithm: key.dnskey[3],
    state: stateOf(key),
    signs: key.signs,
    dnskey: printRdata(TYPE.DNSKEY, key.dnskey),
    made_at: key.madeAt.toISOString(),
    published_at: key.publishedAt?.toISOString() ?? null,
    retired_at: key.retiredAt?.toISOString() ?? null,
  };
}
