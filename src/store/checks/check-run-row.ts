// The evidence and findings of a check as JSON in its row, and back. The owner of a zone decides how much its servers
// send, so only a bounded part is kept.

import { createHash } from 'node:crypto';
import type { Evidence, ServerEvidence, WalkedZone, WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Finding, FindingCode } from '../../checks/delegation/findings.ts';
import type { Name } from '../../dns/name.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { StoredFinding } from '../postgres/schema.ts';

const MAX_NAMES = 64;
const MAX_DS = 16;
const MAX_TEXT = 2000;

interface JsonServer
  extends Omit<ServerEvidence, 'server' | 'ns' | 'ds' | Unknown>,
    Partial<Pick<ServerEvidence, Unknown>> {
  readonly server: string;
  readonly ns: readonly string[];
  /** DS records in base64. */
  readonly ds: readonly string[];
}

/** JSON has no `undefined`: fields that are not known are absent. */
type Unknown = 'rttMs' | 'rcode' | 'aa' | 'ttl' | 'error';

interface JsonWalked {
  readonly zone: string;
  readonly servers: readonly string[];
  readonly cached: boolean;
}

export interface JsonEvidence {
  readonly domain: string;
  readonly parent?: string;
  readonly walk: readonly JsonWalked[];
  readonly servers: readonly JsonServer[];
  readonly parentAddresses: number;
  readonly failure?: {
    readonly zone: string;
    readonly reason: WalkFailure['reason'];
    readonly message: string;
  };
  readonly queries: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

export function encodeEvidence(evidence: Evidence): JsonEvidence {
  const { domain, parent, walk, servers, failure, ...passed } = evidence;
  return {
    ...passed,
    domain: encodeNameColumn(domain),
    ...(parent !== undefined && { parent: encodeNameColumn(parent) }),
    walk: walk.map(({ zone, servers, cached }) => ({
      zone: encodeNameColumn(zone),
      servers: encodeNames(servers),
      cached,
    })),
    servers: servers.map(encodeServer),
    ...(failure !== undefined && {
      failure: { ...failure, zone: encodeNameColumn(failure.zone), message: textColumn(failure.message) },
    }),
  };
}

function encodeServer({ server, ns, ds, error, ...passed }: ServerEvidence): JsonServer {
  const left = [
    ...(error === undefined ? [] : [error]),
    ...(ns.length > MAX_NAMES ? [`${ns.length - MAX_NAMES} more names are not kept`] : []),
    ...(ds.length > MAX_DS ? [`${ds.length - MAX_DS} more DS are not kept`] : []),
  ];
  return {
    ...passed,
    server: encodeNameColumn(server),
    ns: encodeNames(ns),
    ds: ds.slice(0, MAX_DS).map((rdata) => Buffer.from(rdata).toString('base64')),
    ...(left.length > 0 && { error: textColumn(left.join('; ')) }),
  };
}

export function decodeEvidence(json: JsonEvidence): Evidence {
  const { domain, parent, walk, servers, failure, ...passed } = json;
  return {
    ...passed,
    domain: decodeNameColumn(domain),
    parent: parent === undefined ? undefined : decodeNameColumn(parent),
    walk: walk.map(
      ({ zone, servers, cached }): WalkedZone => ({
        zone: decodeNameColumn(zone),
        servers: servers.map(decodeNameColumn),
        cached,
      }),
    ),
    servers: servers.map(decodeServer),
    failure: failure === undefined ? undefined : { ...failure, zone: decodeNameColumn(failure.zone) },
  };
}

function decodeServer(json: JsonServer): ServerEvidence {
  return {
    ...json,
    server: decodeNameColumn(json.server),
    rttMs: json.rttMs,
    rcode: json.rcode,
    aa: json.aa,
    ns: json.ns.map(decodeNameColumn),
    ttl: json.ttl,
    ds: json.ds.map((text) => new Uint8Array(Buffer.from(text, 'base64'))),
    error: json.error,
  };
}

export function encodeNames(names: readonly Name[]): string[] {
  return names.slice(0, MAX_NAMES).map(encodeNameColumn);
}

export function encodeFinding({ code, message, names }: Finding): StoredFinding {
  return { code, message: textColumn(message), ...(names !== undefined && { names: encodeNames(names) }) };
}

export function decodeFinding({ code, message, names }: StoredFinding): Finding {
  return {
    code: code as FindingCode,
    message,
    ...(names !== undefined && { names: names.map(decodeNameColumn) }),
  };
}

/** A hash that is equal for equal values. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

/** Prepares text for a column: without NUL, which Postgres does not take, and shortened. */
export function textColumn(text: string): string {
  const plain = text.replace(/[^\x20-\ud7ff\ue000-\uffff]/g, '?');
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT - 1)}…`;
}
