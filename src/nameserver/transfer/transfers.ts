// Zone transfers to peers: AXFR (RFC 5936) and IXFR (RFC 1995).

import { EXTENDED_ERROR } from '../../dns/message/edns.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { foldCase, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Log } from '../../process/reconnect.ts';
import type { TransferForm } from '../../store/transfers/report-transfers.ts';
import { isNewer, serialIn } from '../../zone/serial.ts';
import { TRANSPORT, TRANSPORTS } from '../answer/transports.ts';
import { addressText } from './access.ts';
import type { EncodedZones, ZoneVersion } from './encoding/encoded-zones.ts';
import { type EncodedTransfer, TransferWriter } from './encoding/transfer-writer.ts';
import type { ZoneHistory } from './encoding/zone-history.ts';
import { type AnswerPoster, roomFor, type VerifiedRequest } from './post-answers.ts';
import type { TransferPeer } from './transfer-config.ts';
import type { TransferCounters } from './transfer-counters.ts';
import type { TransferReports } from './transfer-reports.ts';
import { type Release, TransferSlots } from './transfer-slots.ts';
import { type TransferReply, writeTransferMessage } from './write-reply.ts';

interface TransfersOptions {
  readonly zones: EncodedZones;
  readonly history: Pick<ZoneHistory, 'load'>;
  readonly poster: AnswerPoster;
  readonly reports: TransferReports;
  readonly counters: TransferCounters;
  /** Concurrent transfers. */
  readonly most: number;
  readonly log: Log;
}

/** Header, question, and an SOA with three long names. */
const SOA_MESSAGE_OCTETS = 2048;

/** A peer, and the zone that it may transfer. */
interface Permitted {
  readonly zone: ZoneVersion;
  readonly peer: TransferPeer;
  /** True if the zone is copied from a primary, so that its EXPIRE counts from the last refresh. */
  readonly isSecondary: boolean;
}

interface Open {
  readonly request: VerifiedRequest;
  readonly permitted: Permitted;
  readonly startedMs: number;
  readonly ended: AbortController;
  /** Undefined until the first part is sent. */
  answer: Answer | undefined;
}

interface Answer {
  readonly form: TransferForm;
  readonly zone: ZoneVersion;
  readonly transfer: EncodedTransfer;
  /** Number of messages that were sent. */
  sent: number;
  /** Calling it again has no effect. */
  release(): void;
}

export class Transfers {
  readonly #options: TransfersOptions;
  readonly #slots: TransferSlots;
  /** The transfers over TCP that have not ended, by the id of the message. */
  readonly #open = new Map<number, Open>();

  constructor(options: TransfersOptions) {
    this.#options = options;
    this.#slots = new TransferSlots(options.most, () => options.zones.hasRoom);
  }

  /** Answers a permitted AXFR or IXFR query, now or later. Never rejects. */
  async start(request: VerifiedRequest, permitted: Permitted): Promise<void> {
    const { message } = request;
    const open: Open = {
      request,
      permitted,
      startedMs: performance.now(),
      ended: new AbortController(),
      answer: undefined,
    };
    this.#open.set(message.id, open);
    try {
      await this.#answer(open);
      if (open.answer === undefined) this.#open.delete(message.id);
    } catch (error) {
      this.#open.delete(message.id);
      open.answer?.release();
      if (open.ended.signal.aborted) return;
      this.#options.counters.countTransfer(formOf(request), 'failed');
      this.#options.reports.failed(permitted.zone.id, permitted.peer.id, 'the transfer failed');
      const zone = printName(permitted.zone.soa.owner);
      this.#options.log.error({ err: error, zone }, 'a zone transfer failed');
      this.#options.poster.reply(request, { rcode: RCODE.SERVFAIL });
    }
  }

  /** Answers a permitted SOA query for a private zone. */
  sendSoa(request: VerifiedRequest, permitted: Permitted): void {
    const soa = soaAlone(permitted.zone);
    this.#options.poster.send(request, writeTransferMessage(request, soa, 0, replyTo(request, permitted)));
  }

  /** Sends the next part of an answer. Call it when the peer has taken the last one. */
  more(id: number): void {
    const open = this.#open.get(id);
    if (open?.answer === undefined) return;
    try {
      if (isTooSlow(open, open.answer)) this.#abort(open, id);
      else this.#sendPart(open, open.answer);
    } catch (error) {
      this.#options.log.error({ err: error }, 'a zone transfer failed');
      this.#abort(open, id);
    }
  }

  #abort({ request }: Open, id: number): void {
    this.#options.poster.abort(request.message);
    this.closed(id);
  }

  /** Call it when the connection has ended. */
  closed(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    open.ended.abort();
    const { request, permitted, answer } = open;
    answer?.release();
    this.#options.counters.countTransfer(answer?.form ?? formOf(request), 'ended');
    if (answer === undefined) return;
    this.#options.log.info(
      { ...describe(request, permitted), form: answer.form, messages: answer.sent },
      'the peer closed the connection during a zone transfer',
    );
  }

  /** Sends the answer, or its first part; `open.answer` is then defined. */
  async #answer(open: Open): Promise<void> {
    const { request, permitted } = open;
    const { zone } = permitted;
    const serial = formOf(request) === 'ixfr' ? clientSerial(request) : undefined;
    if (serial === 'malformed') {
      this.#options.poster.reply(request, { rcode: RCODE.FORMERR });
      return;
    }
    if (serial !== undefined && (serial === zone.serial || isNewer(serial, zone.serial))) {
      this.#sendMessage(open, 'soa', zone, soaAlone(zone));
      if (serial === zone.serial) this.#options.reports.served(zone.id, permitted.peer.id, serial, 'soa');
      return;
    }
    if (request.message.transport === TRANSPORT.UDP) {
      await this.#answerOverUdp(open, serial as number);
      return;
    }
    const release = await this.#slots.take(permitted.peer, open.ended.signal);
    if (release === undefined) {
      this.#refuse(open);
      return;
    }
    const answer = await this.#prepare(open, serial, release).catch((error) => {
      release();
      throw error;
    });
    if (open.ended.signal.aborted) {
      answer.release();
      return;
    }
    open.answer = answer;
    this.#sendPart(open, answer);
  }

  /** Answers that no slot was free in time, unless the connection has ended. */
  #refuse({ request, permitted, ended }: Open) {
    const { counters, reports, poster } = this.#options;
    if (ended.signal.aborted) return;
    counters.countTransfer(formOf(request), 'busy');
    reports.failed(permitted.zone.id, permitted.peer.id, 'the node has too many transfers');
    poster.reply(request, { rcode: RCODE.SERVFAIL, extendedError: EXTENDED_ERROR.NOT_READY });
  }

  /** Chooses between the differences since `serial` and the whole zone. */
  async #prepare({ permitted }: Open, serial: number | undefined, release: Release): Promise<Answer> {
    const { zone } = permitted;
    const { zones, history, counters } = this.#options;
    if (serial !== undefined) {
      const loaded = await history.load(zone, serial);
      if (loaded.kind === 'encoded')
        return { form: 'ixfr', zone, transfer: loaded.transfer, sent: 0, release };
      counters.countHistoryMiss(loaded.why);
    }
    const held = zones.hold(zone.soa.owner);
    if (held === undefined) throw new Error('the zone is no longer served');
    if (held.zone.id !== zone.id) {
      held.release();
      throw new Error('the zone was replaced by another one with its name');
    }
    let isHeld = true;
    const releaseAll = () => {
      if (isHeld) held.release();
      isHeld = false;
      release();
    };
    return { form: 'axfr', zone: held.zone, transfer: held.transfer, sent: 0, release: releaseAll };
  }

  async #answerOverUdp(open: Open, serial: number): Promise<void> {
    const { zone } = open.permitted;
    const loaded = await this.#options.history.load(zone, serial);
    if (loaded.kind === 'missing') this.#options.counters.countHistoryMiss(loaded.why);
    else if (loaded.transfer.messages.length === 1 && this.#sendMessage(open, 'ixfr', zone, loaded.transfer))
      return;
    this.#sendMessage(open, 'soa', zone, soaAlone(zone)); // RFC 1995 §2
  }

  /** Sends a transfer of one message. Returns false if it does not fit. */
  #sendMessage(
    { request, permitted, startedMs }: Open,
    form: TransferForm,
    zone: ZoneVersion,
    transfer: EncodedTransfer,
  ): boolean {
    const octets = writeTransferMessage(request, transfer, 0, replyTo(request, permitted));
    if (octets.length > roomFor(request)) return false;
    this.#options.poster.send(request, octets);
    this.#noteSent({ request, permitted, startedMs }, { form, zone, transfer });
    return true;
  }

  #sendPart(open: Open, answer: Answer) {
    const { request, permitted } = open;
    const { transfer } = answer;
    const reply = replyTo(request, permitted);
    this.#options.poster.sendPart(request, {
      get left() {
        return transfer.messages.length - answer.sent;
      },
      take: () => writeTransferMessage(request, transfer, answer.sent++, reply),
    });
    if (answer.sent < transfer.messages.length) return;
    this.#open.delete(request.message.id);
    answer.release();
    this.#noteSent(open, answer);
  }

  #noteSent(
    { request, permitted, startedMs }: Pick<Open, 'request' | 'permitted' | 'startedMs'>,
    { form, zone, transfer }: Pick<Answer, 'form' | 'zone' | 'transfer'>,
  ): void {
    const { log, reports, counters } = this.#options;
    counters.countTransfer(form, 'sent');
    if (form !== 'soa') reports.served(zone.id, permitted.peer.id, zone.serial, form);
    const { records, octets } = transfer;
    const ms = Math.round(performance.now() - startedMs);
    const fields = { ...describe(request, permitted), form, serial: zone.serial, records, octets, ms };
    log[form === 'soa' ? 'debug' : 'info'](fields, 'zone transferred');
  }
}

/** Slower peers of customers' domains would occupy the slots of others. */
const LEAST_OCTETS_PER_SECOND = 16 * 1024;
const SLOW_GRACE_MS = 30_000;

function isTooSlow({ permitted, startedMs }: Open, { transfer, sent }: Answer): boolean {
  if (permitted.peer.accountId === undefined) return false;
  const octets = transfer.octets * (sent / transfer.messages.length);
  const allowedMs = SLOW_GRACE_MS + (octets * 1000) / LEAST_OCTETS_PER_SECOND;
  return performance.now() - startedMs > allowedMs;
}

function formOf({ decoded }: VerifiedRequest): 'axfr' | 'ixfr' {
  return decoded?.questions[0]?.type === TYPE.IXFR ? 'ixfr' : 'axfr';
}

/** Returns the serial of the client's copy, in the authority section (RFC 1995 §3). */
function clientSerial({ decoded }: VerifiedRequest): number | 'malformed' {
  const [question] = decoded?.questions ?? [];
  const soa = decoded?.authorities.find(({ type, rdata }) => type === TYPE.SOA && rdata.length > 0);
  if (soa === undefined || question === undefined) return 'malformed';
  return foldCase(soa.owner) === foldCase(question.name) ? serialIn(soa.rdata) : 'malformed';
}

function soaAlone({ soa }: ZoneVersion): EncodedTransfer {
  const writer = new TransferWriter(soa.owner, SOA_MESSAGE_OCTETS);
  writer.write(soa);
  return writer.finish();
}

function replyTo({ message, signer }: VerifiedRequest, permitted: Permitted): TransferReply {
  return {
    expireSeconds: expireOf(permitted),
    pads: message.transport === TRANSPORT.TLS,
    signatureOctets: signer?.octets ?? 0,
  };
}

/** The value of EXPIRE (RFC 7314 §2): that of the SOA. Unknown for a secondary. */
function expireOf({ zone, isSecondary }: Permitted): number | undefined {
  const { rdata } = zone.soa;
  return isSecondary
    ? undefined
    : new DataView(rdata.buffer, rdata.byteOffset + rdata.length - 8).getUint32(0);
}

function describe({ message }: VerifiedRequest, { zone, peer }: Permitted): object {
  return {
    zone: printName(zone.soa.owner),
    peer: peer.name ?? peer.id,
    address: addressText(message.address),
    transport: TRANSPORTS[message.transport],
  };
}
