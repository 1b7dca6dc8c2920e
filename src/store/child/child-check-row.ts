// The evidence and findings of a check of the delegated zone as JSON in its row, and back. Others decide how much their
// servers send, so only a bounded part is kept.

import type { Place, Severity } from '../../checks/child/child-codes.ts';
import type { ChildFinding } from '../../checks/child/child-findings.ts';
import type { AddressProbe, ChildEvidence, ChildServer, ProbeReply } from '../../checks/child/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

const MAX_NAMES = 64;
const MAX_ADDRESSES = 16;
const MAX_TEXT = 2000;

/** A finding whose names have their final dot. */
export interface JsonChildFinding {
  readonly code: string;
  readonly severity: Severity;
  readonly place: Place;
  readonly message: string;
  readonly names?: readonly string[];
}

export function encodeChildFinding({ names, message, ...passed }: ChildFinding): JsonChildFinding {
  return {
    ...passed,
    message: plainText(message),
    ...(names !== undefined && { names: encodeNames(names) }),
  };
}

/** What one address answered, in the words of the evidence. */
interface JsonProbe {
  readonly address: string;
  readonly servers: readonly string[];
  readonly soa: string;
  readonly ns: string;
  readonly tcp: string;
  readonly edns: string;
  readonly serial?: number;
}

export interface JsonChildEvidence {
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

export function encodeChildEvidence(evidence: ChildEvidence): JsonChildEvidence {
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

export function decodeNames(names: readonly string[]): Name[] {
  return names.map(decodeNameColumn);
}

/** Without NUL, which Postgres does not take, and shortened. */
function plainText(text: string): string {
  const plain = text.replace(/[^\x20-\ud7ff\ue000-\uffff]/g, '?');
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT - 1)}…`;
}
