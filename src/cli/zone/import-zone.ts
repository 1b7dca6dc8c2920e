// `zone import`: transfers a zone from a server once. It becomes an operator zone, as with `zone load`. With an account, the
// records are imported into its domain, as with `domain import`.

import { verifyZonemd } from '../../dns/dnssec/zonemd.ts';
import { type Name, printName } from '../../dns/name.ts';
import { inOneGo } from '../../dns/zone-file/in-one-go.ts';
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { findDomains } from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  RefusedZonesError,
  type SavedZone,
  type SerialRule,
  saveZones,
} from '../../store/zones/save-zones.ts';
import { buildZone } from '../../zone/build-zone.ts';
import { recordsOfZone } from '../../zone/records-of-zone.ts';
import type { TransferResult } from '../../zone/transfer/read-transfer.ts';
import { judgeSignedZone } from '../../zone/verbatim/judge-signed-zone.ts';
import { findWarnings } from '../../zone/warnings/find-warnings.ts';
import { viewZone } from '../../zone/warnings/zone-view.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { importRecords } from '../domain/import-records.ts';
import type { Audited } from '../terminal/cli.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import { printRefusal } from '../terminal/print-refusal.ts';
import { refusedItem } from './collect-zones.ts';
import { type FileProblem, MAX_VERIFIED_SETS } from './judge-zone-file.ts';
import { loadedItem } from './load-zone-files.ts';

interface ImportOrder {
  readonly apex: Name;
  /** The server, with its port. */
  readonly from: string;
  /** Transfers the zone. Rejects if the signal aborts. */
  readonly transfer: () => Promise<TransferResult>;
  readonly owner: Owner;
  readonly isDryRun: boolean;
  readonly serialRule: SerialRule;
  readonly at: number;
  readonly by: ChangedBy;
  readonly actor: string;
  readonly signal: AbortSignal;
  /** Saves the zone with an audit log entry. */
  readonly audited: (db: Database, save: Audited<SavedZone[]>) => Promise<SavedZone[]>;
}

/** Returns the exit code. */
export async function importZone(db: Database, order: ImportOrder, output: Output): Promise<number> {
  const { apex, from } = order;
  const found = await findDomain(db, order);
  if (found.kind === 'refused') {
    await printRefusal(apex, found, output);
    return 1;
  }
  const result = await transferOf(order);
  if (result === undefined) return INTERRUPTED;
  const refuse = async (problems: readonly Omit<FileProblem, 'file'>[]) => {
    const item = refusedItem({
      file: from,
      apex,
      problems: problems.map((each) => ({ file: from, ...each })),
    });
    if (output.json) await output.print(JSON.stringify(item.json));
    else for (const line of item.problems ?? []) await output.complain(line);
    return 1;
  };
  if (result.kind === 'failed')
    return await refuse([{ code: result.code, message: withoutServer(result.message, from) }]);
  if (result.kind !== 'zone') throw new Error('the answer to AXFR is not a zone');
  const { serial, dropped, records } = result;
  const digest = inOneGo(verifyZonemd(apex, records));
  if (digest.kind === 'invalid') return await refuse([{ code: 'ZONEMD_INVALID', message: digest.message }]);
  const transfer = { from, serial, transferred: records.length, dropped, zonemd: digest.kind };
  if (!output.json) {
    await output.print(
      `transferred ${printName(apex)} serial ${serial} records ${records.length} from ${from}`,
    );
    if (dropped > 0)
      await output.complain(`${from}: warning: ${dropped} records outside the zone are left out`);
  }
  if (found.kind === 'domain') {
    const imported = { ...order.by, transfer, ...(order.isDryRun && { dryRun: true as const }) };
    return await importRecords(db, found.domain, printZoneFile(apex, records), imported, output);
  }
  const judged = judgeRecords(order, records);
  if (judged.kind === 'refused') return await refuse(judged.problems);
  const saved = order.isDryRun ? undefined : await save(db, order, judged.records);
  if (typeof saved === 'string') return await refuse([{ message: saved }]);
  const item =
    saved === undefined
      ? { json: { zone: printName(apex), outcome: 'would load' }, lines: [`would load ${printName(apex)}`] }
      : loadedItem({ file: from, warnings: [] }, saved);
  const warnings = judged.warnings.map((each) => ({ file: from, ...each }));
  if (output.json) await output.print(JSON.stringify({ ...item.json, ...transfer, warnings }));
  else {
    for (const { message } of warnings) await output.complain(`${from}: warning: ${message}`);
    for (const line of item.lines ?? []) await output.print(line);
  }
  return 0;
}

type FoundDomain =
  | { readonly kind: 'domain'; readonly domain: Domain }
  | { readonly kind: 'none' }
  | Extract<Awaited<ReturnType<typeof findOneDomain>>, { kind: 'refused' }>;

/**
 * Returns the domain into which the records are imported. The account must be given: any customer can create a domain with
 * the name, and would otherwise get the records.
 */
async function findDomain(db: Database, { apex, owner }: ImportOrder): Promise<FoundDomain> {
  if (owner.accountId === undefined) {
    const isHeld = (await findDomains(db, apex)).some(({ served }) => served !== 'none');
    const message = "this is a customer's domain; add --account to import into it";
    return isHeld ? { kind: 'refused', code: 'customer', message } : { kind: 'none' };
  }
  const found = await findOneDomain(db, apex, owner);
  return found.kind === 'found' ? { kind: 'domain', domain: found.domain } : found;
}

/** Returns undefined if the signal aborts. */
async function transferOf({ transfer, signal }: ImportOrder): Promise<TransferResult | undefined> {
  try {
    return await transfer();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

type JudgedRecords =
  | {
      readonly kind: 'good';
      readonly records: readonly ZoneRecord[];
      readonly warnings: readonly Omit<FileProblem, 'file'>[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly Omit<FileProblem, 'file'>[] };

/** Validates the records as `zone load` does. Signatures of the primary stay as they are. */
function judgeRecords({ apex, at }: ImportOrder, records: readonly ZoneRecord[]): JudgedRecords {
  const built = buildZone(apex, records);
  if (built.kind === 'refused')
    return { kind: 'refused', problems: built.problems.map(({ code, message }) => ({ code, message })) };
  const { zone, stray } = built;
  const doubts = judgeSignedZone(zone, { at, stray, maxVerified: MAX_VERIFIED_SETS });
  const warnings = [
    ...doubts.map(({ code, message }) => ({ code, message })),
    ...inOneGo(findWarnings(viewZone(zone), records)).map(({ owner, type, code, message }) => {
      return { name: printName(owner), type, code, message };
    }),
  ];
  return { kind: 'good', records: [...recordsOfZone(zone)], warnings };
}

/** Returns why the zone is refused, as text. */
async function save(
  db: Database,
  { apex, actor, serialRule, audited }: ImportOrder,
  records: readonly ZoneRecord[],
): Promise<SavedZone | string> {
  try {
    const [saved] = await audited(db, async (trx, tell) => {
      const change = { source: 'cli', actor } as const;
      const zones = await saveZones(trx, [{ apex, records }], change, serialRule);
      const names = [printName(apex)];
      if (zones[0]?.outcome !== 'unchanged') tell({ target: { name: names[0] }, after: { zones: 1, names } });
      return zones;
    });
    return saved as SavedZone;
  } catch (error) {
    if (error instanceof RefusedZonesError) return `${printName(apex)} ${error.why}`;
    throw error;
  }
}

/** The server is printed before each problem. */
function withoutServer(message: string, server: string): string {
  return message.startsWith(`${server} `) ? `the server ${message.slice(server.length + 1)}` : message;
}
