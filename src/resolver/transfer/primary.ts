// A primary of a zone: whether it may be queried, and how queries to it are encoded, signed and verified.

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { readTsig, signMessage, type TsigKey } from '../../dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../dns/message/tsig-stream.ts';
import type { Name } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import { printListenAddress } from '../../process/listen-address.ts';
import { withSerial } from '../../zone/serial.ts';
import type { TransferFailure, TransferFailureCode } from '../../zone/transfer/read-transfer.ts';
import { encodeQuery, setId } from '../exchange/encode-query.ts';
import { RandomBytes } from '../exchange/random-bytes.ts';
import { readTarget, type Target } from '../exchange/target.ts';
import { isAskable } from '../state/address-rules.ts';
import type { PrimaryTls } from './connect-tls.ts';

export interface Primary {
  readonly address: string;
  readonly port: number;
  /** Signs queries. All replies must then be signed. Undefined if transfers are not signed. */
  readonly key: TsigKey | undefined;
  /** Undefined if TLS is not used. */
  readonly tls?: PrimaryTls | undefined;
}

export interface PrimaryOptions {
  readonly signal: AbortSignal;
  /** Networks that may be queried although they are not public. 'any' if the operator chose the address. */
  readonly allowed: readonly Network[] | 'any';
  /** Local addresses to query from. The first of the primary's family is used; if there is none, the system chooses. */
  readonly sources?: readonly string[];
}

/** Destination and local address of packets to a primary. */
export interface Route {
  readonly target: Target;
  readonly localAddress: string | undefined;
}

/** Returns the primary at its port for TLS, unless `tls` is undefined. */
export function atPortFor(tls: PrimaryTls | undefined, primary: Primary): Primary {
  return tls === undefined ? primary : { ...primary, port: tls.port };
}

/** Returns the route to the primary, or a failure if it may not be queried. */
export function routeTo(
  primary: Primary,
  { allowed, sources = [] }: PrimaryOptions,
): ({ readonly kind: 'route' } & Route) | TransferFailure {
  const { address, port, tls } = primary;
  if (tls?.isStrict && tls.name === undefined && tls.pins.length === 0)
    return failureOf(
      primary,
      'PRIMARY_TLS',
      'is not queried: TLS is strict, but there is no name and no pin',
    );
  const target = readTarget(address, port);
  if (target === undefined || (allowed !== 'any' && !isAskable(address, allowed))) {
    return {
      kind: 'failed',
      code: 'PRIMARY_ADDRESS',
      message: `${address} is not a public address, so it is not queried`,
    };
  }
  const isSameFamily = (source: string) => source.includes(':') === (target.family === 6);
  return { kind: 'route', target, localAddress: sources.find(isSameFamily) };
}

export function failureOf(primary: Primary, code: TransferFailureCode, predicate: string): TransferFailure {
  return { kind: 'failed', code, message: `${printListenAddress(primary)} ${predicate}` };
}

/**
 * Returns the failure for a reply whose signature is missing or not valid. Servers refuse zones and clients that they do
 * not know without a signature, which is then not the reason.
 */
export function unsignedFailure(primary: Primary, octets: Uint8Array, error: string): TransferFailure {
  const rcode = octets.length < HEADER_OCTETS ? RCODE.NOERROR : (octets[3] as number) & 15;
  const answered = `answered ${rcodeMnemonic(rcode)}`;
  return rcode !== RCODE.NOERROR && readTsig(octets).kind === 'none'
    ? failureOf(primary, 'PRIMARY_REFUSED', `${answered} without a signature`)
    : failureOf(primary, 'PRIMARY_TSIG', `${answered} without a valid signature: ${error}`);
}

export interface PrimaryQuery {
  /** The query without a signature, to match replies with. */
  readonly query: Uint8Array;
  readonly id: number;
  /** The query as it is sent. */
  readonly octets: Uint8Array;
  /** Verifies replies. Undefined if the query is not signed. */
  readonly verifier: () => TsigStreamVerifier | undefined;
}

const random = new RandomBytes();
/** An SOA with only a serial: primaries read nothing else (RFC 1995 §3). */
const BARE_SOA = new Uint8Array(22);

/** Encodes a query with a new id. With `serial`, it is an IXFR query for the differences from there (RFC 1995 §3). */
export function queryFor({ key }: Primary, apex: Name, type: number, serial?: number): PrimaryQuery {
  const question = encodeQuery(apex, type, false);
  const query = serial === undefined ? question : withSoa(question, serial);
  const id = random.uint16();
  setId(query, id);
  if (key === undefined) return { query, id, octets: query, verifier: () => undefined };
  const { message, mac } = signMessage(query, key, { nowSeconds: nowSeconds() });
  return { query, id, octets: message, verifier: () => new TsigStreamVerifier(key, mac) };
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function withSoa(query: Uint8Array, serial: number): Uint8Array {
  const rdata = withSerial(BARE_SOA, serial);
  const record = Buffer.alloc(12 + rdata.length);
  record.writeUInt16BE(0xc000 | HEADER_OCTETS, 0); // a pointer to the question's name
  record.writeUInt16BE(TYPE.SOA, 2);
  record.writeUInt16BE(CLASS.IN, 4);
  record.writeUInt16BE(rdata.length, 10);
  record.set(rdata, 12);
  const octets = Buffer.concat([query, record]);
  octets[9] = 1; // NSCOUNT
  return octets;
}
