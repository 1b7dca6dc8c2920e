// The newest check of each domain's delegated zone, with evidence and findings as JSON. Other operators' servers
// determine the amount of data, so what is stored is limited. Saving never touches the domain's row.

import { sql } from 'kysely';
import type { Place, Severity } from '../../checks/child/child-codes.ts';
import type { ChildFinding } from '../../checks/child/child-findings.ts';
import type { AddressProbe, ChildEvidence, ChildServer, ProbeReply } from '../../checks/child/evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface SavedChildCheck {
  readonly checkedAt: Date;
  readonly queries: number;
  readonly findings: readonly (Omit<JsonChildFinding, 'names'> & { readonly names: readonly Name[] })[];
  readonly evidence: JsonChildEvidence;
}

/** Returns undefined before the first check. */
export async function loadChildCheck(db: Database, domainId: number): Promise<SavedChildCheck | undefined> {
  const { rows } = await sql<ChildCheckRow>`
    select checked_at as "checkedAt", queries, findings, evidence from child_checks
    where domain_id = ${domainId} and checked_at is not null`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const findings = row.findings.map(({ names = [], ...passed }) => ({
    ...passed,
    names: decodeNames(names),
  }));
  return { ...row, findings };
}

interface ChildCheckRow {
  readonly checkedAt: Date;
  readonly queries: number;
  readonly findings: readonly JsonChildFinding[];
  readonly evidence: JsonChildEvidence;
}

interface ChildCheckOrder {
  readonly domainId: number;
  /** The delegation for which the check ran. If another one is wanted by now, the zone stays due. */
  readonly wantedNs: readonly string[];
  readonly evidence: ChildEvidence;
  readonly findings: readonly ChildFinding[];
  /** Milliseconds since 1970. */
  readonly nextAt: number;
}

export async function saveChildCheck(db: Database, order: ChildCheckOrder): Promise<void> {
  const { domainId, wantedNs, evidence, findings, nextAt } = order;
  await sql`
    update child_checks set ns = ${wantedNs}::text[], checked_at = ${new Date(evidence.finishedAt)},
      findings = ${JSON.stringify(findings.map(encodeChildFinding))}::jsonb,
      evidence = ${JSON.stringify(encodeChildEvidence(evidence))}::jsonb, queries = ${evidence.queries},
      due_at = case when wanted_ns = ${wantedNs}::text[] then ${new Date(nextAt)}::timestamptz else due_at end
    where domain_id = ${domainId}`.execute(db);
}

/** For a domain that is deleted or not delegated. Its zone becomes due again if a check finds another delegation. */
export async function endChildChecks(db: Database, domainId: number): Promise<void> {
  await sql`update child_checks set due_at = null where domain_id = ${domainId}`.execute(db);
}

const MAX_NAMES = 64;
const MAX_ADDRESSES = 16;
const MAX_TEXT = 2000;

/** A finding whose names have their final dot. */
interface JsonChildFinding {
  readonly code: string;
  readonly severity: Severity;
  readonly place: Place;
  readonly message: string;
  readonly names?: readonly string[];
}

function encodeChildFinding({ names, message, ...passed }: ChildFinding): JsonChildFinding {
  return {
    ...passed,
    message: plainText(message),
    ...(names !== undefined && { names: encodeNames(names) }),
  };
}

/** Replies of one address, as text. */
interface JsonProbe {
  readonly address: string;
  readonly servers: readonly string[];
  readonly soa: string;
  readonly ns: string;
  readonly tcp: string;
  readonly edns: string;
  readonly serial?: number;
}

interface JsonChildEvidence {
  readonly parent?: string;
  readonly servers: readonly {
    readonly name: string;
    readonly at_parent: boolean;
    readonly in_zone: boolean;
    readonly glue: readonly string[];
    readonly addresses: readonly string[];
  }[];
  readonly addresses: readonly JsonProbe[];
  readonly failure?: string;
  readonly complete: boolean;
}

function encodeChildEvidence(evidence: ChildEvidence): JsonChildEvidence {
  const { parent, servers, addresses, failure, isComplete } = evidence;
  return {
    ...(parent !== undefined && { parent: encodeNameColumn(parent) }),
    servers: servers.slice(0, MAX_NAMES).map(encodeServer),
    addresses: addresses.slice(0, MAX_NAMES).map(encodeProbe),
    ...(failure !== undefined && { failure: plainText(failure) }),
    complete: isComplete,
  };
}

function encodeServer({ name, isAtParent, isInZone, glue, found }: ChildServer) {
  const addresses = 'addresses' in found ? found.addresses : [];
  return {
    name: encodeNameColumn(name),
    at_parent: isAtParent,
    in_zone: isInZone,
    glue: glue.slice(0, MAX_ADDRESSES),
    addresses: addresses.slice(0, MAX_ADDRESSES),
  };
}

function encodeProbe({ address, servers, soa, ns, tcp, edns }: AddressProbe): JsonProbe {
  return {
    address,
    servers: encodeNames(servers),
    soa: wordOf(soa),
    ns: wordOf(ns),
    tcp: wordOf(tcp),
    edns,
    ...(soa.soa !== undefined && { serial: soa.soa.serial }),
  };
}

function wordOf({ outcome, error }: ProbeReply): string {
  return plainText(error === undefined ? outcome : `${outcome}: ${error}`);
}

function encodeNames(names: readonly Name[]): string[] {
  return names.slice(0, MAX_NAMES).map(encodeNameColumn);
}

function decodeNames(names: readonly string[]): Name[] {
  return names.map(decodeNameColumn);
}

/** Replaces characters that Postgres cannot store, and limits the length. */
function plainText(text: string): string {
  const plain = text.replace(/[^\x20-\ud7ff\ue000-\uffff]/g, '?');
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT - 1)}…`;
}
