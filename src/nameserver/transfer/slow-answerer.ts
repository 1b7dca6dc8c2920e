// Answers the messages that only the transfer thread can answer: signed queries, NOTIFY, zone transfers, and dynamic updates.

import { WireError } from '../../dns/errors.ts';
import { EXTENDED_ERROR } from '../../dns/message/edns.ts';
import { HEADER_OCTETS, OPCODE } from '../../dns/message/header.ts';
import { decodeMessage, type Message } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import type { TsigRecord } from '../../dns/message/tsig.ts';
import { updateHead } from '../../dns/message/update-head.ts';
import { decodeName, foldCase, type Name, printName } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { Log } from '../../process/reconnect.ts';
import { serialIn } from '../../zone/serial.ts';
import type { PacketAnswerer } from '../answer/answer-query.ts';
import { TRANSPORT, TRANSPORTS } from '../answer/transports.ts';
import type { Reader } from '../image/image.ts';
import { addressText, findPeer, transportRefusal } from './access.ts';
import { BoundedLog } from './bounded-log.ts';
import type { EncodedZones, ZoneVersion } from './encoding/encoded-zones.ts';
import type { SlowMessage } from './messages.ts';
import { type AnswerPoster, roomFor, type VerifiedRequest } from './post-answers.ts';
import type { ServedKey, TransferConfig, TransferPeer } from './transfer-config.ts';
import type { TransferCounters } from './transfer-counters.ts';
import type { TransferReports } from './transfer-reports.ts';
import type { Transfers } from './transfers.ts';
import type { UpdateQueue } from './updates/update-queue.ts';
import { isRequest, verifyMessage } from './verify-message.ts';
import { type Request, writeReply } from './write-reply.ts';

const MAX_ANSWER_OCTETS = 0xffff;
/** Questions and records together. Decoding thousands of compressed names would take long. */
const MAX_REQUEST_RECORDS = 100;

interface SlowAnswererOptions {
  /** Answers everything that is neither NOTIFY, nor a transfer, nor an update. */
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  /** Returns undefined until the configuration was read once. */
  readonly config: () => TransferConfig | undefined;
  readonly zones: EncodedZones;
  /** Undefined if the node answers neither transfers nor NOTIFY. */
  readonly transfers: Transfers | undefined;
  /** Undefined if the node takes no dynamic updates. */
  readonly updates: Pick<UpdateQueue, 'add'> | undefined;
  readonly poster: AnswerPoster;
  readonly reports: TransferReports;
  readonly counters: TransferCounters;
  /** Called for NOTIFY of a primary. `serial` is that of the SOA in the message, or null. */
  readonly onNotify: (apex: Name, serial: number | null) => void;
  readonly log: Log;
  readonly nowMs?: () => number;
}

export class SlowAnswerer {
  readonly #options: SlowAnswererOptions;
  readonly #nowMs: () => number;
  readonly #refused: BoundedLog;
  readonly #tsigFailed: BoundedLog;
  readonly #out = new Uint8Array(MAX_ANSWER_OCTETS + 1024);

  constructor(options: SlowAnswererOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#refused = new BoundedLog(options.log, 'warn');
    this.#tsigFailed = new BoundedLog(options.log, 'warn');
  }

  /** Posts the answer, now or later. Never throws. */
  handle(message: SlowMessage): void {
    try {
      this.#verify(message);
    } catch (error) {
      this.#options.log.error({ err: error }, 'unhandled error in a message to the transfer thread');
      this.#options.poster.drop(message);
    }
  }

  #verify(message: SlowMessage) {
    const { poster, counters, reports } = this.#options;
    const { octets } = message;
    if (!isRequest(octets)) return poster.drop(message);
    const config = this.#options.config();
    const verified = verifyMessage(octets, (tsig) => keysFor(config, octets, tsig), this.#nowMs);
    if (verified.kind === 'malformed') {
      counters.countTsigFailure('FORMERR');
      return poster.reply(unsigned(message, octets), { rcode: RCODE.FORMERR });
    }
    if (verified.kind === 'accepted') {
      const { signer } = verified;
      if (signer !== undefined) reports.keyUsed(signer.keyId);
      return this.#answer({ message, signer, ...requestOf(verified.octets) }, config);
    }
    const request = unsigned(message, verified.octets);
    if (verified.kind === 'unreadable' || config === undefined)
      return poster.reply(request, { rcode: RCODE.SERVFAIL, extendedError: EXTENDED_ERROR.NOT_READY });
    const { keyName, error } = verified;
    counters.countTsigFailure(error);
    const fields = { address: addressText(message.address), key: printName(keyName), error };
    this.#tsigFailed.write(fields, 'a message with an invalid TSIG record is refused');
    poster.sendFinished(message, verified.finish(writeReply(request, { rcode: RCODE.NOTAUTH })));
  }

  #answer(request: VerifiedRequest, config: TransferConfig | undefined) {
    const { decoded, message } = request;
    if (decoded === undefined) return this.#options.poster.reply(request, { rcode: RCODE.FORMERR });
    const { opcode, questions, edns } = decoded;
    const [question] = questions;
    const hasVersion0 = edns === undefined || edns.version === 0;
    if (opcode === OPCODE.UPDATE && hasVersion0) return this.#takeUpdate(request, decoded, config);
    const { transfers } = this.#options;
    if (transfers === undefined) return this.#answerPlain(request);
    if (opcode === OPCODE.NOTIFY && hasVersion0) return this.#takeNotify(request, decoded, config);
    const isQuery =
      opcode === OPCODE.QUERY && hasVersion0 && questions.length === 1 && question?.class === CLASS.IN;
    if (!isQuery) return this.#answerPlain(request);
    const { type } = question;
    const apex = foldCase(question.name);
    if (type === TYPE.IXFR || (type === TYPE.AXFR && message.transport !== TRANSPORT.UDP))
      this.#transfer(transfers, request, apex, config);
    else if (type === TYPE.SOA) this.#answerSoa(transfers, request, apex, config);
    else this.#answerPlain(request);
  }

  /** Answers as the other threads do. A signature takes space from the records. */
  #answerPlain(request: VerifiedRequest) {
    const { answerer, reader, poster } = this.#options;
    const { octets, message } = request;
    answerer.nowMs = this.#nowMs();
    answerer.client.set(message.transport, message.address);
    reader.enter();
    let length = 0;
    try {
      length = answerer.answer(octets, 0, octets.length, this.#out, 0, roomFor(request));
    } finally {
      reader.leave();
    }
    if (length === 0) poster.drop(message);
    else poster.send(request, this.#out.slice(0, length));
  }

  #takeNotify(request: VerifiedRequest, decoded: Message, config: TransferConfig | undefined) {
    const { poster, counters, onNotify } = this.#options;
    const { message, signer } = request;
    const [question] = decoded.questions;
    if (decoded.questions.length !== 1 || question?.type !== TYPE.SOA || question.class !== CLASS.IN)
      return poster.reply(request, { rcode: RCODE.FORMERR });
    if (config === undefined)
      return poster.reply(request, { rcode: RCODE.SERVFAIL, extendedError: EXTENDED_ERROR.NOT_READY });
    const apex = foldCase(question.name);
    const primaries = config.primariesOf(apex);
    if (primaries === undefined) {
      counters.countNotify('not_a_secondary');
      return poster.reply(request, { rcode: RCODE.NOTAUTH });
    }
    if (findPeer(primaries, { address: message.address, keyId: signer?.keyId }) === undefined) {
      counters.countNotify('refused');
      this.#logRefusal(request, apex, 'NOTIFY of a server that is not a primary of the zone is refused');
      return poster.reply(request, { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED });
    }
    counters.countNotify('accepted');
    const soa = decoded.answers.find(({ type, rdata }) => type === TYPE.SOA && rdata.length > 0);
    onNotify(apex, soa === undefined ? null : serialIn(soa.rdata));
    poster.reply(request, { rcode: RCODE.NOERROR, isAuthoritative: true });
  }

  /** The API decides everything else (RFC 2136 §6). */
  #takeUpdate(request: VerifiedRequest, decoded: Message, config: TransferConfig | undefined) {
    const { updates, poster, counters } = this.#options;
    const { signer } = request;
    const [zone] = decoded.questions;
    if (zone?.type !== TYPE.SOA) return poster.reply(request, { rcode: RCODE.FORMERR }); // RFC 2136 §3.1.1
    if (zone.class !== CLASS.IN) return poster.reply(request, { rcode: RCODE.NOTAUTH }); // RFC 2136 §3.1.2
    if (updates !== undefined && signer !== undefined) {
      const apex = foldCase(zone.name);
      return updates.add({ ...request, signer }, apex, config?.mayUpdate(signer.keyId, apex) ?? false);
    }
    counters.countUpdate(updates === undefined ? 'off' : 'unsigned');
    poster.reply(request, { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED });
  }

  #transfer(transfers: Transfers, request: VerifiedRequest, apex: Name, config: TransferConfig | undefined) {
    const { zones, poster, counters } = this.#options;
    const fail = (rcode: number, extendedError?: number) => poster.reply(request, { rcode, extendedError });
    const found = zones.find(apex);
    if (found.kind === 'absent') return fail(RCODE.NOTAUTH);
    if (config === undefined || found.kind === 'not served')
      return fail(RCODE.SERVFAIL, EXTENDED_ERROR.NOT_READY);
    if (found.kind === 'expired') return fail(RCODE.SERVFAIL, EXTENDED_ERROR.INVALID_DATA);
    const { zone, isWhole } = found;
    const refuse = (why: string) => {
      const [question] = request.decoded?.questions ?? [];
      counters.countTransfer(question?.type === TYPE.IXFR ? 'ixfr' : 'axfr', 'refused');
      this.#logRefusal(request, apex, why);
      fail(RCODE.REFUSED, EXTENDED_ERROR.PROHIBITED);
    };
    const peer = peerThatTransfers(config, zone, request);
    if (peer === undefined || !isWhole) return refuse('a zone transfer is refused');
    const refusal = transportRefusal(peer, request.message);
    if (refusal !== undefined) return refuse(refusal);
    void transfers.start(request, { zone, peer, isSecondary: config.primariesOf(apex) !== undefined });
  }

  /** Answers the SOA of a private zone to peers that may transfer it, and that of other zones to every client. */
  #answerSoa(transfers: Transfers, request: VerifiedRequest, apex: Name, config: TransferConfig | undefined) {
    const { zones, poster } = this.#options;
    const found = zones.find(apex);
    if (found.kind !== 'served' || !found.zone.isPrivate) return this.#answerPlain(request);
    if (config === undefined)
      return poster.reply(request, { rcode: RCODE.SERVFAIL, extendedError: EXTENDED_ERROR.NOT_READY });
    const { zone } = found;
    const peer = peerThatTransfers(config, zone, request);
    if (peer !== undefined)
      return transfers.sendSoa(request, { zone, peer, isSecondary: config.primariesOf(apex) !== undefined });
    this.#logRefusal(request, apex, 'a query for a private zone is refused');
    poster.reply(request, { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED });
  }

  #logRefusal({ message, signer }: VerifiedRequest, apex: Name, text: string): void {
    const address = addressText(message.address);
    const transport = TRANSPORTS[message.transport];
    const key = signer === undefined ? {} : { key: printName(signer.keyName) };
    this.#refused.write({ zone: printName(apex), address, transport, ...key }, text);
  }
}

/** Returns the peer that sent the message, or undefined if the sender may not transfer the zone. */
function peerThatTransfers(
  config: TransferConfig,
  { id }: ZoneVersion,
  { message, signer }: VerifiedRequest,
): TransferPeer | undefined {
  const peers = config.grantsOf(id).flatMap(({ transfers, peer }) => (transfers ? [peer] : []));
  return findPeer(peers, { address: message.address, keyId: signer?.keyId });
}

/**
 * Returns the keys that may have signed a message: the one of this name that peers use, or, for NOTIFY, those that the
 * primaries of the zone have chosen.
 */
function keysFor(
  config: TransferConfig | undefined,
  octets: Uint8Array,
  { keyName }: TsigRecord,
): readonly ServedKey[] {
  if (config === undefined) return [];
  const served = config.keyNamed(keyName);
  const keys = served === undefined ? [] : [served];
  if (opcodeOf(octets) !== OPCODE.NOTIFY) return keys;
  const zone = questionName(octets);
  const primaries = (zone === undefined ? undefined : config.primariesOf(zone)) ?? [];
  return [...new Set([...keys, ...primaries.flatMap(({ key }) => (key?.name === keyName ? [key] : []))])];
}

/** Returns the name of the first question, folded, or undefined if it is malformed. */
function questionName(octets: Uint8Array): Name | undefined {
  return unlessMalformed(() => foldCase(decodeName(octets, HEADER_OCTETS).name));
}

function unsigned(message: SlowMessage, octets: Uint8Array): VerifiedRequest {
  return { message, signer: undefined, ...requestOf(octets) };
}

function requestOf(octets: Uint8Array): Request {
  if (opcodeOf(octets) === OPCODE.UPDATE) {
    const head = updateHead(octets);
    return { octets, decoded: head && unlessMalformed(() => decodeMessage(head)) };
  }
  const isShort = recordsIn(octets) <= MAX_REQUEST_RECORDS;
  return { octets, decoded: isShort ? unlessMalformed(() => decodeMessage(octets)) : undefined };
}

function opcodeOf(octets: Uint8Array): number {
  return ((octets[2] as number) >> 3) & 15;
}

/** Returns the number of questions and records. */
function recordsIn(octets: Uint8Array): number {
  const count = (at: number) => ((octets[at] as number) << 8) | (octets[at + 1] as number);
  return count(4) + count(6) + count(8) + count(10);
}

function unlessMalformed<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
