// A reported request as a row of the analytics store: of its visitor a part of the address, and a number by which the same
// visitor is known again, made with a key that only the fleet has.

import { createHmac } from 'node:crypto';
import { printClient } from './client-prefix.ts';
import type { EdgeRequest } from './request-line.ts';

interface Owner {
  readonly domainId: number;
  /** The name that the host counts under, where it is another. */
  readonly countsAs: string | undefined;
}

export interface RowOptions {
  readonly edgeId: number;
  /** 32 octets. */
  readonly visitorKey: Uint8Array;
  /** Addresses are kept whole. */
  readonly wholeClients: boolean;
}

interface RequestRow {
  readonly at: string;
  readonly domain_id: number;
  readonly edge_id: number;
  /** The name that counts. */
  readonly host: string;
  /** That the visitor asked for, where it is another. */
  readonly asked_host?: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: string;
  /** 64 bits, as digits. */
  readonly visitor: string;
  readonly cache?: string;
  readonly rule?: number;
  readonly reason?: string;
  readonly websocket?: boolean;
}

/** What is empty, zero or false is left out: the store has it as default. */
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

/** Over the whole address and, where there was TLS, its fingerprint: many share an address behind one router. */
function visitorOf(client: Uint8Array, fingerprint: string | undefined, key: Uint8Array): bigint {
  const hmac = createHmac('sha256', key).update(client);
  if (fingerprint !== undefined) hmac.update('\0').update(fingerprint);
  return hmac.digest().readBigUInt64BE();
}
