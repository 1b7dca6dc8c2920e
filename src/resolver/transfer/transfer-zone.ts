// Transfers a zone, or its differences, from a primary over TCP or TLS.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { printListenAddress } from '../../process/listen-address.ts';
import {
  MAX_TRANSFER_OCTETS,
  type TransferFailureCode,
  TransferReader,
  type TransferResult,
} from '../../zone/transfer/read-transfer.ts';
import type { PrimaryTls } from './connect-tls.ts';
import {
  atPortFor,
  failureOf,
  nowSeconds,
  type Primary,
  type PrimaryOptions,
  queryFor,
  routeTo,
  unsignedFailure,
} from './primary.ts';
import { readStream } from './read-stream.ts';

export interface TransferOrder {
  /** In lower case. */
  readonly apex: Name;
  readonly form: 'axfr' | 'ixfr';
  /** Serial of the copy. Undefined (only AXFR) if any serial of the primary is accepted. */
  readonly serial: number | undefined;
  readonly maxRecords: number;
  /** 256 MiB if undefined. */
  readonly maxOctets?: number;
}

const SILENCE_MS = 60_000;
const TOTAL_MS = 30 * 60_000;

/** With opportunistic TLS, these failures over TLS lead to a transfer over TCP. */
const FALLBACK_CODES: readonly TransferFailureCode[] = ['PRIMARY_TLS', 'PRIMARY_SILENT', 'PRIMARY_REFUSED'];

/**
 * Returns the whole transfer or a failure. With a key, nothing is returned that is not signed. Rejects only with the
 * signal's reason when that aborts.
 */
export async function transferZone(
  primary: Primary,
  order: TransferOrder,
  options: PrimaryOptions,
): Promise<TransferResult> {
  const { tls } = primary;
  const result = await transferOver(tls, primary, order, options);
  const fallsBack =
    tls?.isStrict === false && result.kind === 'failed' && FALLBACK_CODES.includes(result.code);
  return fallsBack ? await transferOver(undefined, primary, order, options) : result;
}

async function transferOver(
  tls: PrimaryTls | undefined,
  stored: Primary,
  { apex, form, serial, maxRecords, maxOctets = MAX_TRANSFER_OCTETS }: TransferOrder,
  options: PrimaryOptions,
): Promise<TransferResult> {
  const primary = atPortFor(tls, stored);
  const route = routeTo(primary, options);
  if (route.kind === 'failed') return route;
  const type = form === 'axfr' ? TYPE.AXFR : TYPE.IXFR;
  const query = queryFor(primary, apex, type, form === 'ixfr' ? serial : undefined);
  const server = printListenAddress(primary);
  const reader = new TransferReader({ apex, type, id: query.id, serial, server, maxRecords, maxOctets });
  const verifier = query.verifier();
  let result: TransferResult | undefined;
  const failure = await readStream(route, query.octets, {
    signal: options.signal,
    tls,
    silenceMs: SILENCE_MS,
    totalMs: TOTAL_MS,
    accept: (octets) => {
      const verified = verifier?.accept(octets, nowSeconds());
      if (verified?.kind === 'bad') {
        result = unsignedFailure(primary, octets, verified.error);
        return true;
      }
      result = reader.accept(verified?.message ?? octets);
      return result !== undefined;
    },
  });
  if (failure !== undefined) return failureOf(primary, failure.code, failure.error);
  const transferred = result as TransferResult;
  if (transferred.kind !== 'failed' && verifier?.isComplete === false)
    return failureOf(primary, 'PRIMARY_TSIG', 'sent a last message that is not signed');
  return transferred;
}
