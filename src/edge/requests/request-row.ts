// Converts a reported request to a row of the analytics store. Of the visitor it has only the address prefix, and a keyed
// hash that identifies the same visitor again.

import { createHmac } from 'node:crypto';
import { printClient } from './client-prefix.ts';
import type { EdgeRequest } from './request-line.ts';

interface Owner {
  readonly domainId: number;
  /** The name that the host counts under, if different. */
  readonly countsAs: string | undefined;
}

export interface RowOptions {
  readonly edgeId: number;
  /** 32 octets. */
  readonly visitorKey: Uint8Array;
  /** True if addresses are stored completely. */
  readonly wholeClients: boolean;
}

interface RequestRow {
  readonly at: string;
  readonly domain_id: number;
  readonly edge_id: number;
  /** The name under which the request counts. */
  readonly host: string;
  /** The requested name, if different. */
  readonly asked_host?: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: string;
  /** 64 bits, in decimal. */
  readonly visitor: string;
  readonly cache?: string;
  readonly rule?: number;
  readonly reason?: string;
  readonly websocket?: boolean;
}

/** Omits empty, zero and false values, which are the store's defaults. */
export function requestRow(
  { atMs, host, client, fingerprint, cache, rule, reason, websocket, ...same }: EdgeRequest,
  { domainId, countsAs }: Owner,
  { edgeId, visitorKey, wholeClients }: RowOptions,
): RequestRow {
  return {
    at: new Date(atMs).toISOString().slice(0, -1).replace('T', ' '),
    domain_id: domainId,
    edge_id: edgeId,
    host: countsAs ?? host,
    ...(countsAs !== undefined && { asked_host: host }),
    ...same,
    client: printClient(client, wholeClients),
    visitor: visitorOf(client, fingerprint, visitorKey).toString(),
    ...(cache !== '' && { cache }),
    ...(rule !== 0 && { rule }),
    ...(reason !== '' && { reason }),
    ...(websocket && { websocket }),
  };
}

/** Hashes the whole address and, for TLS, the fingerprint, because many visitors share an address behind one router. */
function visitorOf(client: Uint8Array, fingerprint: string | undefined, key: Uint8Array): bigint {
  const hmac = createHmac('sha256', key).update(client);
  if (fingerprint !== undefined) hmac.update('\0').update(fingerprint);
  return hmac.digest().readBigUInt64BE();
}
