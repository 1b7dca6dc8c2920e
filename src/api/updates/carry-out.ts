// Carries out one dynamic update and writes its answer, in the order of RFC 2136 §3: TSIG, zone, grants of the key, then the
// update itself under the lock of its domain or zone. It trusts nothing that a node reports about a message except the
// address and the deadline.

import { type Edns, EXTENDED_ERROR } from '../../dns/message/edns.ts';
import { decodeMessage } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { replyTo } from '../../dns/message/reply.ts';
import {
  readTsig,
  signErrorAnswer,
  signMessage,
  TSIG_ERROR,
  type TsigKey,
  type TsigRecord,
  verifyRequest,
  withoutTsig,
} from '../../dns/message/tsig.ts';
import { readUpdate, refuseUpdate, type Update, type UpdateRefusal } from '../../dns/message/update.ts';
import { updateHead } from '../../dns/message/update-head.ts';
import { type Name, printName, ROOT } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { unsealTsigKey } from '../../store/secrets/tsig-secrets.ts';
import {
  loadUpdateTarget,
  type TargetZone,
  type UpdateKey,
  type UpdateTarget,
} from '../../store/updates/load-target.ts';
import type { UpdatedZone } from '../../store/updates/queue.ts';
import { saveDomainUpdate } from '../../store/updates/save-domain-update.ts';
import { saveZoneUpdate } from '../../store/updates/save-zone-edit.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import { NoTurn } from '../calls/turns.ts';

export interface UpdateTools {
  readonly db: Database;
  readonly tsigSecrets: readonly KeySecret[];
  readonly countryOf: CountryOf | undefined;
  readonly originAllow: readonly Network[];
  /** Returns true if the key may update now. */
  readonly admits: (keyId: number) => boolean;
  /** Runs a query when a connection is free. Rejects with `NoTurn` if the node no longer waits. */
  readonly whenFree: <T>(query: () => Promise<T>) => Promise<T>;
  /** Also waits for the zone's turn. Rejects with `NoTurn` if too many updates wait, or the node no longer waits. */
  readonly inTurn: <T>(zoneId: number, work: () => Promise<T>) => Promise<T>;
  readonly nowMs: () => number;
}

/** An answer, and the fields of its log line. */
export interface CarriedOut {
  readonly answer: Uint8Array;
  readonly rcode: number;
  /** Why the update was refused. */
  readonly message?: string | undefined;
  readonly change?: UpdatedZone | undefined;
  /** Number of changed records. */
  readonly records: number;
  readonly zone?: Name;
  readonly keyName?: Name;
}

interface Result {
  readonly rcode: number;
  readonly message?: string;
  readonly change?: UpdatedZone | undefined;
  readonly records?: number;
}

interface ReceivedUpdate {
  /** The message as received. */
  readonly octets: Uint8Array;
  /** The address of the client. */
  readonly address: string;
  /** When the node stops waiting: a timestamp of the database's clock, as text. */
  readonly deadline: string;
}

export async function carryOut(
  tools: UpdateTools,
  { octets, address, deadline }: ReceivedUpdate,
  decide = resultOf,
): Promise<CarriedOut> {
  const found = readTsig(octets);
  if (found.kind !== 'found') {
    const rcode = found.kind === 'none' ? RCODE.REFUSED : RCODE.FORMERR;
    return { answer: replyTo(octets, undefined, { rcode }), rcode, records: 0 };
  }
  const { tsig } = found;
  const inner = withoutTsig(octets, tsig);
  const read = readUpdate(inner);
  const update = read.kind === 'update' ? read : undefined;
  const edns = ednsOf(inner);
  const about = { keyName: tsig.keyName, ...(update !== undefined && { zone: update.zone }) };
  const { keyName, mac } = tsig;
  const order = { keyName, zone: update?.zone ?? ROOT, mac };
  const target = await tools.whenFree(() => loadUpdateTarget(tools.db, order));
  const verified = verify(tools, octets, tsig, target.key);
  if (verified.kind === 'refused') {
    const { rcode, error, message } = verified;
    const reply = replyTo(inner, edns, { rcode });
    const seconds = Math.floor(tools.nowMs() / 1000);
    const answer = error === undefined ? reply : signErrorAnswer(reply, tsig, verified.key, error, seconds);
    return { answer, rcode, message, records: 0, ...about };
  }
  const { key } = verified;
  const keyRow = target.key as UpdateKey;
  const result = await decide(tools, read, { target, mac, keyRow, address, deadline });
  const answer = signAnswer(tools, key, mac, inner, edns, result);
  return { answer, ...about, ...result, records: result.records ?? 0 };
}

/** Answers SERVFAIL to a message that could not be carried out because of an error. */
export function answerFailure(tools: UpdateTools, received: ReceivedUpdate): Promise<CarriedOut> {
  return carryOut(tools, received, async () => ({ rcode: RCODE.SERVFAIL }));
}

type Verified =
  | { readonly kind: 'verified'; readonly key: TsigKey }
  | {
      readonly kind: 'refused';
      readonly rcode: number;
      /** A TSIG error. Undefined if this process cannot open the key. */
      readonly error: number | undefined;
      readonly key: TsigKey | undefined;
      readonly message: string;
    };

function verify(
  { tsigSecrets, nowMs }: UpdateTools,
  octets: Uint8Array,
  tsig: TsigRecord,
  row: UpdateKey | undefined,
): Verified {
  const secret = row && unsealTsigKey(tsigSecrets, row);
  if (row !== undefined && secret === undefined) {
    const message = 'TSIG_SECRETS does not open the key';
    return { kind: 'refused', rcode: RCODE.SERVFAIL, error: undefined, key: undefined, message };
  }
  const key = row && secret && { name: tsig.keyName, algorithm: row.algorithm, secret };
  const judged =
    key === undefined
      ? { kind: 'bad' as const, error: TSIG_ERROR.BADKEY }
      : verifyRequest(octets, tsig, key, Math.floor(nowMs() / 1000));
  if (judged.kind === 'ok') return { kind: 'verified', key: key as TsigKey };
  const message = `the signature is not valid: TSIG error ${judged.error}`;
  return { kind: 'refused', rcode: RCODE.NOTAUTH, error: judged.error, key, message };
}

interface Verification {
  readonly target: UpdateTarget;
  readonly mac: Uint8Array;
  readonly keyRow: UpdateKey;
  readonly address: string;
  readonly deadline: string;
}

async function resultOf(
  tools: UpdateTools,
  read: Update | UpdateRefusal,
  { target, mac, keyRow, address, deadline }: Verification,
): Promise<Result> {
  if (target.seen !== undefined) return target.seen;
  // Check this before grants, because a key without a grant costs queries too.
  if (!tools.admits(keyRow.id)) return refuseUpdate(RCODE.SERVFAIL, 'the key sends too many updates');
  if (read.kind === 'refused') return read;
  const { zone, hasGrant } = target;
  const name = printName(read.zone);
  if (zone === undefined) return refuseUpdate(RCODE.NOTAUTH, `${name} is not a zone of this service`);
  if (zone.isCopy) return refuseUpdate(RCODE.REFUSED, `${name} is copied from a primary: change it there`);
  // Check this before prerequisites, which could otherwise be used to read the zone.
  if (!hasGrant) return refuseUpdate(RCODE.REFUSED, `the key has no grant in ${name}`);
  const { id: keyId, accountId } = keyRow;
  const by = {
    ...{ kind: 'tsig' as const, keyId, address, name: keyRow.name },
    ...(accountId !== null && { accountId }),
  };
  const order = { update: read, keyId, mac, deadline, by };
  try {
    return await tools.inTurn(zone.zoneId, () => save(tools, zone, order));
  } catch (error) {
    if (error instanceof NoTurn) return refuseUpdate(RCODE.SERVFAIL, error.message);
    throw error;
  }
}

async function save(
  { db, countryOf, originAllow }: UpdateTools,
  { zoneId, domain }: TargetZone,
  order: Parameters<typeof saveZoneUpdate>[1],
): Promise<Result> {
  if (domain === undefined) return await saveZoneUpdate(db, order);
  return await saveDomainUpdate(db, { ...order, domain, zoneId, countryOf, originAllow });
}

/** Returns the OPT record of an update, or undefined if there is none or the update is malformed. */
function ednsOf(octets: Uint8Array): Edns | undefined {
  const head = updateHead(octets);
  try {
    return head && decodeMessage(head).edns;
  } catch {
    return undefined;
  }
}

function signAnswer(
  { nowMs }: UpdateTools,
  key: TsigKey,
  requestMac: Uint8Array,
  inner: Uint8Array,
  edns: Edns | undefined,
  { rcode, message }: Result,
): Uint8Array {
  const explained =
    message === undefined ? {} : { extendedError: EXTENDED_ERROR.OTHER, extendedText: message };
  const reply = replyTo(inner, edns, { rcode, ...explained });
  return signMessage(reply, key, { nowSeconds: Math.floor(nowMs() / 1000), requestMac }).message;
}
