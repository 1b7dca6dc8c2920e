// Reads the messages of a zone transfer, AXFR (RFC 5936) or IXFR (RFC 1995), one by one, and decides when it is complete.
// The primary is not trusted: all that it sends counts towards a limit, and a transfer is accepted whole or not at all.

import { canonicalRdata } from '../../dns/dnssec/canonical-rdata.ts';
import { WireError } from '../../dns/errors.ts';
import { decodeMessage, type Message, type MessageRecord } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { foldCase, isWithin, type Name, printName } from '../../dns/name.ts';
import { checkRdata } from '../../dns/record/rdata.ts';
import { CLASS, TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { isMetaType } from '../collect-records.ts';
import { isNewer, serialIn } from '../serial.ts';
import { EDGE_MARK_TYPE, type ZoneRecord } from '../zone.ts';

export type TransferFailureCode =
  /** The address may not be queried. */
  | 'PRIMARY_ADDRESS'
  /** No connection, no reply in time, or the connection ended before the transfer. */
  | 'PRIMARY_SILENT'
  /** No TLS connection, or the server could not be verified. */
  | 'PRIMARY_TLS'
  /** An error as the response code. */
  | 'PRIMARY_REFUSED'
  /** A signature is missing or wrong, or the primary rejects that of the query. */
  | 'PRIMARY_TSIG'
  /** The serial of the primary is older than that of the copy. */
  | 'PRIMARY_SERIAL_BACK'
  | 'TRANSFER_TOO_LARGE'
  | 'TRANSFER_INVALID';

export interface TransferFailure {
  readonly kind: 'failed';
  readonly code: TransferFailureCode;
  /** A sentence with the server, and with its response code if it sent one. */
  readonly message: string;
}

/** The records that one version removed and added. The first of each is the SOA before and after it. */
export interface Difference {
  readonly serialBefore: number;
  readonly serialAfter: number;
  readonly removed: readonly ZoneRecord[];
  readonly added: readonly ZoneRecord[];
}

interface Transferred {
  readonly serial: number;
  /** Number of records that were left out because their owners are outside the zone. */
  readonly dropped: number;
}

export type TransferResult =
  /** The primary has the serial of the copy. */
  | { readonly kind: 'current'; readonly serial: number }
  /** All records, with one SOA. Also the answer to IXFR of a primary that sends the whole zone (RFC 1995 §4). */
  | (Transferred & { readonly kind: 'zone'; readonly records: readonly ZoneRecord[] })
  /** From the serial of the copy to `serial`, oldest first; at least one. */
  | (Transferred & { readonly kind: 'differences'; readonly differences: readonly Difference[] })
  | TransferFailure;

export interface ExpectedTransfer {
  /** In lower case. */
  readonly apex: Name;
  readonly type: typeof TYPE.AXFR | typeof TYPE.IXFR;
  readonly id: number;
  /** Serial of the copy. Undefined (only AXFR) if any serial is accepted. */
  readonly serial: number | undefined;
  /** The server as errors name it. */
  readonly server: string;
  readonly maxRecords: number;
  readonly maxOctets: number;
}

/** Maximum size of a transfer, both as received and after decompression. */
export const MAX_TRANSFER_OCTETS = 256 * 2 ** 20;
/** Octets of a record's type, class, TTL and RDLENGTH. */
const FIXED_OCTETS = 10;
const MAX_TTL_SECONDS = 2 ** 31 - 1;

interface GrowingDifference {
  readonly serialBefore: number;
  serialAfter: number;
  readonly removed: ZoneRecord[];
  readonly added: ZoneRecord[];
}

export class TransferReader {
  readonly #expected: ExpectedTransfer;
  /** The SOA that begins and ends the transfer. */
  #soa: ZoneRecord | undefined;
  #serial = 0;
  /** `start`: only the first SOA was read. `removed`, `added`: inside a difference. */
  #state: 'start' | 'zone' | 'removed' | 'added' | 'end' = 'start';
  readonly #records: ZoneRecord[] = [];
  readonly #differences: GrowingDifference[] = [];
  #count = 0;
  #octets = 0;
  #dropped = 0;
  #owner: Name | undefined;

  constructor(expected: ExpectedTransfer) {
    this.#expected = expected;
  }

  /** Reads the next message, without its TSIG record. Returns undefined if more messages must follow. */
  accept(octets: Uint8Array): TransferResult | undefined {
    try {
      return this.#read(decodeMessage(octets), octets.length);
    } catch (error) {
      if (error instanceof WireError) return this.#invalid(`an unreadable message: ${error.message}`);
      if (error instanceof TransferFault) return this.#failure(error.code, error.message);
      throw error;
    }
  }

  #read(message: Message, octets: number): TransferResult | undefined {
    this.#checkHeader(message);
    const records = [...message.answers, ...message.authorities, ...message.additionals];
    const decoded = records.reduce(
      (sum, { owner, rdata }) => sum + owner.length + FIXED_OCTETS + rdata.length,
      0,
    );
    this.#octets += Math.max(octets, decoded);
    this.#count += message.answers.length;
    this.#checkSize();
    // A primary may pad a transfer over TLS with messages that have only an OPT record (RFC 9103 §7.9.1).
    const isPadding = message.edns !== undefined && this.#soa !== undefined;
    if (message.answers.length === 0 && !isPadding) fail('a message without records');
    for (const record of message.answers) {
      if (this.#state === 'end') fail('records after the final SOA');
      const early = this.#step(record);
      if (early !== undefined) return early;
    }
    return this.#state === 'end' ? this.#finish() : undefined;
  }

  #checkHeader({ id, qr, opcode, tc, rcode, questions }: Message): void {
    const { apex, type } = this.#expected;
    if (id !== this.#expected.id || !qr || opcode !== 0) fail('a message that does not answer the query');
    if (rcode !== RCODE.NOERROR)
      throw new TransferFault('PRIMARY_REFUSED', `answered ${rcodeMnemonic(rcode)} to ${typeMnemonic(type)}`);
    if (tc) fail('a truncated message');
    // Later messages may omit the question (RFC 5936 §2.2.1).
    if (questions.length === 0 && this.#soa !== undefined) return;
    const [question] = questions;
    const isOurs = question?.type === type && question.class === CLASS.IN && foldCase(question.name) === apex;
    if (questions.length !== 1 || !isOurs) fail('a message with another question');
  }

  #checkSize(): void {
    const { maxRecords, maxOctets } = this.#expected;
    const tooLarge = (limit: string) => {
      throw new TransferFault('TRANSFER_TOO_LARGE', `sent more than ${limit}`);
    };
    // The SOA is repeated at the end.
    if (this.#count > maxRecords + 1) tooLarge(`${maxRecords} records`);
    if (this.#octets > maxOctets) tooLarge(`${maxOctets} octets`);
  }

  #step(received: MessageRecord): TransferResult | undefined {
    const record = this.#recordOf(received);
    if (record === undefined) return undefined;
    const isSoa = record.type === TYPE.SOA;
    if (isSoa && record.owner !== this.#expected.apex) fail(`an SOA at ${printName(record.owner)}`);
    if (this.#soa === undefined) {
      if (!isSoa) fail('a transfer that does not begin with the SOA');
      return this.#begin(record);
    }
    if (this.#state === 'start') this.#state = this.#formOf(record, isSoa);
    if (!isSoa) this.#list.push(record);
    else if (this.#state === 'zone') this.#endZone(record);
    else this.#stepDifference(record);
    return undefined;
  }

  /** Returns undefined, and counts the record, if its owner is outside the zone. */
  #recordOf({ owner, type, class: recordClass, ttl, rdata }: MessageRecord): ZoneRecord | undefined {
    const folded = foldCase(owner);
    if (recordClass !== CLASS.IN) fail(`a record of class ${recordClass}`);
    if (!isWithin(folded, this.#expected.apex)) {
      this.#dropped++;
      return undefined;
    }
    // Marks would change how nodes answer the zone.
    if (isMetaType(type) || type === EDGE_MARK_TYPE)
      fail(`a record of type ${typeMnemonic(type)}, which zones do not have`);
    if (rdata.length === 0) checkRdata(type, rdata); // not checked by `decodeMessage`
    // Records of one owner follow each other: share its string.
    if (folded !== this.#owner) this.#owner = folded;
    // RFC 2181 §8
    return { owner: this.#owner, type, ttl: ttl > MAX_TTL_SECONDS ? 0 : ttl, rdata };
  }

  #begin(soa: ZoneRecord): TransferResult | undefined {
    const { serial } = this.#expected;
    this.#soa = soa;
    this.#serial = serialIn(soa.rdata);
    this.#records.push(soa);
    if (serial === undefined) return undefined;
    if (serial !== this.#serial) {
      if (isNewer(this.#serial, serial)) return undefined;
      const message = `has the serial ${this.#serial}, which is older than ${serial}`;
      return this.#failure('PRIMARY_SERIAL_BACK', message);
    }
    return this.#expected.type === TYPE.IXFR ? { kind: 'current', serial } : undefined;
  }

  /** Decides by the second record if differences follow (RFC 1995 §4). */
  #formOf(record: ZoneRecord, isSoa: boolean): 'zone' | 'added' {
    const { type, serial } = this.#expected;
    if (type === TYPE.AXFR || !isSoa || this.#isFirstSoa(record)) return 'zone';
    if (serialIn(record.rdata) !== serial)
      fail(`differences from the serial ${serialIn(record.rdata)}, not from ${serial}`);
    return 'added'; // the SOA that comes next begins the first difference
  }

  get #list(): ZoneRecord[] {
    if (this.#state === 'zone') return this.#records;
    const difference = this.#differences.at(-1) as GrowingDifference;
    return this.#state === 'removed' ? difference.removed : difference.added;
  }

  #endZone(soa: ZoneRecord): void {
    if (!this.#isFirstSoa(soa)) fail('an SOA that differs from the first one');
    this.#state = 'end';
  }

  #stepDifference(soa: ZoneRecord): void {
    const serial = serialIn(soa.rdata);
    const current = this.#differences.at(-1);
    if (this.#state === 'removed' && current !== undefined) {
      if (!isNewer(serial, current.serialBefore))
        fail(`a difference from the serial ${current.serialBefore} to ${serial}`);
      current.serialAfter = serial;
      current.added.push(soa);
      this.#state = 'added';
      return;
    }
    if (current !== undefined && serial !== current.serialAfter)
      fail(`a difference from the serial ${serial} after the one to ${current.serialAfter}`);
    if (current !== undefined && serial === this.#serial) {
      if (!this.#isFirstSoa(soa) || !this.#isFirstSoa(current.added[0] as ZoneRecord))
        fail('an SOA that differs from the first one');
      this.#state = 'end';
      return;
    }
    this.#differences.push({ serialBefore: serial, serialAfter: serial, removed: [soa], added: [] });
    this.#state = 'removed';
  }

  /** Compares without regard to the case of names, which compression may change. */
  #isFirstSoa({ rdata }: ZoneRecord): boolean {
    const first = canonicalRdata(TYPE.SOA, (this.#soa as ZoneRecord).rdata);
    return Buffer.compare(first, canonicalRdata(TYPE.SOA, rdata)) === 0;
  }

  #finish(): TransferResult {
    const transferred = { serial: this.#serial, dropped: this.#dropped };
    return this.#differences.length === 0
      ? { kind: 'zone', ...transferred, records: this.#records }
      : { kind: 'differences', ...transferred, differences: this.#differences };
  }

  #invalid(what: string): TransferFailure {
    return this.#failure('TRANSFER_INVALID', `sent ${what}`);
  }

  #failure(code: TransferFailureCode, predicate: string): TransferFailure {
    return { kind: 'failed', code, message: `${this.#expected.server} ${predicate}` };
  }
}

/** The reason to end a transfer. `message` is a predicate without its subject, the server. */
class TransferFault extends Error {
  readonly code: TransferFailureCode;

  constructor(code: TransferFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

function fail(what: string): never {
  throw new TransferFault('TRANSFER_INVALID', `sent ${what}`);
}
