// Queries a primary for the SOA of a zone: twice over UDP, then over TCP. A reply over UDP that cannot be used, or whose
// signature is wrong, may be forged, so it only leads to TCP. A primary with strict TLS is queried over TLS only.

import type { Message } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import { serialIn } from '../../zone/serial.ts';
import type { TransferFailure } from '../../zone/transfer/read-transfer.ts';
import { matchReply } from '../exchange/match-reply.ts';
import { askUdp } from './ask-udp.ts';
import {
  atPortFor,
  failureOf,
  nowSeconds,
  type Primary,
  type PrimaryOptions,
  type PrimaryQuery,
  queryFor,
  type Route,
  routeTo,
  unsignedFailure,
} from './primary.ts';
import { readStream } from './read-stream.ts';

export interface PrimarySoa {
  readonly kind: 'soa';
  readonly serial: number;
  readonly rdata: Uint8Array;
}

const UDP_TRIES = 2;
const UDP_TIMEOUT_MS = 3000;
const TCP_TIMEOUT_MS = 10_000;

/** `apex` is in lower case. Rejects only with the signal's reason when that aborts. */
export async function querySoa(
  stored: Primary,
  apex: Name,
  options: PrimaryOptions,
): Promise<PrimarySoa | TransferFailure> {
  const tls = stored.tls?.isStrict ? stored.tls : undefined;
  const primary = atPortFor(tls, stored);
  const route = routeTo(primary, options);
  if (route.kind === 'failed') return route;
  for (let tries = tls === undefined ? UDP_TRIES : 0; tries > 0; tries--) {
    const asked = await askOverUdp(primary, apex, route, options);
    if (asked.kind === 'reply') return readSoa(primary, apex, asked.message);
    if (asked.kind === 'unusable') break;
  }
  const query = queryFor(primary, apex, TYPE.SOA);
  let reply: Reply | undefined;
  const failure = await readStream(route, query.octets, {
    signal: options.signal,
    tls,
    silenceMs: TCP_TIMEOUT_MS,
    totalMs: TCP_TIMEOUT_MS,
    accept: (octets) => {
      reply = readReply(query, octets, 'tcp');
      return true;
    },
  });
  if (failure !== undefined) return failureOf(primary, failure.code, failure.error);
  if (reply?.kind === 'reply') return readSoa(primary, apex, reply.message);
  if (reply?.kind === 'unsigned') return unsignedFailure(primary, reply.octets, reply.error);
  return failureOf(primary, 'TRANSFER_INVALID', 'sent a reply that does not answer the query');
}

type Reply =
  | { readonly kind: 'reply'; readonly message: Message }
  | { readonly kind: 'unsigned'; readonly octets: Uint8Array; readonly error: string }
  /** `unrelated`: it does not answer this query. `unusable`: it does, but requires TCP. */
  | { readonly kind: 'unrelated' | 'unusable' };

async function askOverUdp(
  primary: Primary,
  apex: Name,
  route: Route,
  { signal }: PrimaryOptions,
): Promise<Extract<Reply, { kind: 'reply' }> | { readonly kind: 'silent' | 'unusable' }> {
  const query = queryFor(primary, apex, TYPE.SOA);
  let reply: Reply | undefined;
  const accept = (octets: Uint8Array) => {
    reply = readReply(query, octets, 'udp');
    return reply.kind !== 'unrelated';
  };
  const asked = await askUdp(route, query.octets, { signal, accept, timeoutMs: UDP_TIMEOUT_MS });
  if (asked === 'accepted' && reply?.kind === 'reply') return reply;
  return { kind: asked === 'silent' ? 'silent' : 'unusable' };
}

function readReply({ query, verifier }: PrimaryQuery, octets: Uint8Array, transport: 'udp' | 'tcp'): Reply {
  const verified = verifier()?.accept(octets, nowSeconds());
  if (verified?.kind === 'bad') return { kind: 'unsigned', octets, error: verified.error };
  const match = matchReply(query, verified?.message ?? octets, transport);
  return match.kind === 'reply' || match.kind === 'unrelated' ? match : { kind: 'unusable' };
}

function readSoa(
  primary: Primary,
  apex: Name,
  { rcode, aa, answers }: Message,
): PrimarySoa | TransferFailure {
  if (rcode !== RCODE.NOERROR)
    return failureOf(primary, 'PRIMARY_REFUSED', `answered ${rcodeMnemonic(rcode)} to SOA`);
  const soa = answers.find(
    (record) => record.type === TYPE.SOA && record.class === CLASS.IN && foldCase(record.owner) === apex,
  );
  if (soa === undefined || soa.rdata.length === 0 || !aa)
    return failureOf(primary, 'TRANSFER_INVALID', 'sent no authoritative answer with the SOA');
  return { kind: 'soa', serial: serialIn(soa.rdata), rdata: soa.rdata };
}
