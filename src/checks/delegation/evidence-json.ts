// Encodes the evidence of a check as JSON for its database row and for an observer's response. Zone owners control how much
// their servers send, so only a limited part is kept.

import { foldCase, type Name, parseName, printName } from '../../dns/name.ts';
import type { Evidence, ServerEvidence, WalkFailure } from './evidence.ts';

const MAX_NAMES = 64;
const MAX_DS = 16;
const MAX_GLUE = 64;
const MAX_TEXT = 2000;

export interface JsonServer
  extends Omit<ServerEvidence, 'server' | 'ns' | 'ds' | 'glue' | Unknown>,
    Partial<Pick<ServerEvidence, Unknown>> {
  readonly server: string;
  readonly ns: readonly string[];
  readonly glue?: readonly { readonly name: string; readonly address: string }[];
  /** DS records in base64. */
  readonly ds: readonly string[];
}

/** JSON has no `undefined`: unknown fields are absent. */
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
    domain: jsonName(domain),
    ...(parent !== undefined && { parent: jsonName(parent) }),
    walk: walk.map(({ zone, servers, cached }) => ({
      zone: jsonName(zone),
      servers: encodeNames(servers),
      cached,
    })),
    servers: servers.map(encodeServer),
    ...(failure !== undefined && {
      failure: { ...failure, zone: jsonName(failure.zone), message: boundedText(failure.message) },
    }),
  };
}

function encodeServer({ server, ns, ds, glue, error, ...passed }: ServerEvidence): JsonServer {
  const left = [
    ...(error === undefined ? [] : [error]),
    ...(ns.length > MAX_NAMES ? [`${ns.length - MAX_NAMES} more names were discarded`] : []),
    ...(ds.length > MAX_DS ? [`${ds.length - MAX_DS} more DS were discarded`] : []),
  ];
  return {
    ...passed,
    server: jsonName(server),
    ns: encodeNames(ns),
    ...(glue !== undefined && {
      glue: glue.slice(0, MAX_GLUE).map(({ name, address }) => ({ name: jsonName(name), address })),
    }),
    ds: ds.slice(0, MAX_DS).map((rdata) => Buffer.from(rdata).toString('base64')),
    ...(left.length > 0 && { error: boundedText(left.join('; ')) }),
  };
}

/** Returns at most 64 names as folded text. */
export function encodeNames(names: readonly Name[]): string[] {
  return names.slice(0, MAX_NAMES).map(jsonName);
}

/** Replaces NUL and other control characters, which Postgres or terminals do not accept, and shortens the text. */
export function boundedText(text: string): string {
  const plain = text.replace(/[^\x20-\ud7ff\ue000-\uffff]/g, '?');
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT - 1)}…`;
}

/** True if the text is a name in the form that this JSON uses. */
export function isJsonName(text: string): boolean {
  try {
    return jsonName(parseName(text)) === text;
  } catch {
    return false;
  }
}

/** Accepts any notation, with or without the trailing dot. Returns undefined if the text is not a name. */
export function readJsonName(text: string): string | undefined {
  try {
    return jsonName(parseName(/(?:^|[^\\])(?:\\\\)*\.$/.test(text) ? text : `${text}.`));
  } catch {
    return undefined;
  }
}

function jsonName(name: Name): string {
  return printName(foldCase(name));
}
