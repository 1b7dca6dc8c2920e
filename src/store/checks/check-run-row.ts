// The evidence of a check back from the JSON in its row, and its findings to it and back.

import { createHash } from 'node:crypto';
import type { Evidence, ServerEvidence, WalkedZone } from '../../checks/delegation/evidence.ts';
import {
  boundedText,
  encodeNames,
  type JsonEvidence,
  type JsonServer,
} from '../../checks/delegation/evidence-json.ts';
import type { Finding, FindingCode } from '../../checks/delegation/findings.ts';
import type { VoiceView } from '../../checks/delegation/seen.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { StoredFinding } from '../postgres/tables/schema.ts';

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

function decodeServer({ glue, ...json }: JsonServer): ServerEvidence {
  return {
    ...json,
    ...(glue !== undefined && {
      glue: glue.map(({ name, address }) => ({ name: decodeNameColumn(name), address })),
    }),
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

/** What one voice saw, as JSON. Zone owners decide how many names a delegation has. */
export interface StoredView extends Omit<VoiceView, 'ns'> {
  readonly ns: readonly string[];
}

const MOST_VIEW_NAMES = 16;

export function encodeView({ label, word, kind, ns }: VoiceView): StoredView {
  return { label, word, kind, ns: encodeNames(ns.slice(0, MOST_VIEW_NAMES)) };
}

export function decodeView(view: StoredView): VoiceView {
  return { ...view, ns: view.ns.map(decodeNameColumn) };
}

export function encodeFinding({ code, message, names }: Finding): StoredFinding {
  return { code, message: boundedText(message), ...(names !== undefined && { names: encodeNames(names) }) };
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
