// Passes dynamic updates to the API through Postgres (RFC 2136 §6), and sends the answers. The answer to a change is sent
// after this node serves it, so that the client's next query sees it.

import { EXTENDED_ERROR } from '../../../dns/message/edns.ts';
import { RCODE } from '../../../dns/message/rcodes.ts';
import type { Name } from '../../../dns/name.ts';
import type { Log } from '../../../process/reconnect.ts';
import type { OfferedUpdate, UpdateAnswer, UpdatedZone } from '../../../store/updates/queue.ts';
import { TRANSPORT } from '../../answer/transports.ts';
import { addressText } from '../access.ts';
import { BoundedLog } from '../bounded-log.ts';
import { type AnswerPoster, payloadOf } from '../post-answers.ts';
import type { TransferCounters } from '../transfer-counters.ts';
import { writeReply } from '../write-reply.ts';
import {
  type SignedUpdate,
  type Transmission,
  type WaitingUpdate,
  WaitingUpdates,
} from './waiting-updates.ts';

/** The rows of this node in Postgres. Deadlines are times of `nowMs`. */
export interface UpdateRows {
  offer(updates: readonly OfferedUpdate[]): Promise<void>;
  take(): Promise<readonly UpdateAnswer[]>;
  drop(slots: readonly number[]): Promise<void>;
}

interface UpdateQueueOptions {
  /** Rejects if Postgres is unavailable. */
  readonly open: () => Promise<UpdateRows>;
  /** Returns true if the image has the zone with this serial or a newer one. */
  readonly isServed: (zone: UpdatedZone) => boolean;
  readonly poster: AnswerPoster;
  readonly counters: Pick<TransferCounters, 'countUpdate'>;
  readonly log: Log;
  readonly nowMs?: () => number;
}

/** Answers are also taken this often, in case a notification is lost. Deadlines are checked equally often. */
const POLL_MS = 250;
const IMAGE_POLL_MS = 5;
const IMAGE_WAIT_MS = 500;

/** An answer to a change that the image does not have yet. */
interface HeldAnswer {
  readonly update: WaitingUpdate;
  readonly answer: Uint8Array;
  readonly change: UpdatedZone;
  readonly deadlineMs: number;
}

export class UpdateQueue {
  readonly #options: UpdateQueueOptions;
  readonly #nowMs: () => number;
  readonly #failures: BoundedLog;
  readonly #waiting = new WaitingUpdates();
  readonly #unsent = new Set<WaitingUpdate>();
  #held: HeldAnswer[] = [];
  #isOffering = false;
  #isTaking = false;
  #mustTakeAgain = false;
  #isStopped = false;
  #poll: NodeJS.Timeout | undefined;
  #imagePoll: NodeJS.Timeout | undefined;

  constructor(options: UpdateQueueOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#failures = new BoundedLog(options.log, 'warn');
  }

  /** Number of updates that wait for their answers. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Passes an update of a zone on. Its answer is posted later.
   * @param hasGrant true if the key is known to have a grant in the zone
   */
  add(request: SignedUpdate, zone: Name, hasGrant: boolean): void {
    const added = this.#waiting.add(request, { zone, hasGrant }, this.#nowMs());
    if (added.kind === 'ignored') this.#options.poster.drop(request.message);
    if (added.kind === 'busy') {
      this.#options.counters.countUpdate('busy');
      this.#options.poster.reply(request, { rcode: RCODE.SERVFAIL });
    }
    if (added.kind !== 'added') return;
    this.#unsent.add(added.update);
    this.#pollSoon();
    if (this.#isOffering) return;
    this.#isOffering = true;
    setImmediate(() => void this.#offerAll());
  }

  /** Call it when the connection of a message has ended. What the API has committed stays. */
  closed(id: number): void {
    const update = this.#waiting.closed(id);
    if (update !== undefined) this.#forget(update);
  }

  /** Takes the answers. Call it when the API notifies this node. */
  async take(): Promise<void> {
    this.#mustTakeAgain = true;
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      while (this.#mustTakeAgain) {
        this.#mustTakeAgain = false;
        const rows = await this.#options.open();
        for (const taken of await rows.take()) this.#answered(taken);
      }
    } catch (error) {
      this.#failures.write({ err: error }, 'answers to dynamic updates cannot be read');
    } finally {
      this.#isTaking = false;
    }
  }

  /** Answers SERVFAIL to all updates that wait, and deletes their rows. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#poll);
    clearTimeout(this.#imagePoll);
    for (const { update, answer } of this.#held.splice(0)) this.#send(update, answer);
    for (const update of this.#waiting.all()) this.#fail(update, 'late');
    await this.#dropAbandoned();
  }

  /** Only one statement runs at a time. Updates that arrive meanwhile share the next one. */
  async #offerAll(): Promise<void> {
    while (this.#unsent.size > 0) {
      const batch = [...this.#unsent];
      this.#unsent.clear();
      try {
        const rows = await this.#options.open();
        const offered = batch.flatMap((update) => asOffered(update));
        for (const update of batch) update.isOffered = true;
        await rows.offer(offered);
      } catch (error) {
        this.#failures.write({ err: error }, 'dynamic updates cannot be passed on: answered SERVFAIL');
        for (const update of batch) this.#fail(update, 'unavailable', EXTENDED_ERROR.NOT_READY);
      }
    }
    this.#isOffering = false;
  }

  #answered({ slot, answer, change }: UpdateAnswer): void {
    const update = this.#waiting.answered(slot);
    if (update === undefined) return;
    if (change === undefined || this.#options.isServed(change)) {
      this.#send(update, answer);
      return;
    }
    this.#held.push({ update, answer, change, deadlineMs: this.#nowMs() + IMAGE_WAIT_MS });
    this.#imagePoll ??= setTimeout(() => this.#sendServed(), IMAGE_POLL_MS);
  }

  #sendServed(): void {
    this.#imagePoll = undefined;
    const nowMs = this.#nowMs();
    const held: HeldAnswer[] = [];
    for (const one of this.#held) {
      if (one.deadlineMs <= nowMs || this.#options.isServed(one.change)) this.#send(one.update, one.answer);
      else held.push(one);
    }
    this.#held = held;
    if (held.length > 0) this.#imagePoll = setTimeout(() => this.#sendServed(), IMAGE_POLL_MS);
  }

  #send(update: WaitingUpdate, answer: Uint8Array): void {
    const { request, transmissions } = update;
    let short: Uint8Array | undefined;
    for (const message of transmissions) {
      let octets = answer;
      if (message.transport === TRANSPORT.UDP && answer.length > payloadOf(request)) {
        short ??= request.signer.sign(writeReply(request, { rcode: (answer[3] as number) & 15 }));
        octets = short;
      }
      this.#options.poster.sendFinished(message, withId(octets, message));
    }
    this.#options.counters.countUpdate('answered');
    this.#forget(update);
  }

  #fail(update: WaitingUpdate, outcome: 'late' | 'unavailable', extendedError?: number): void {
    const { request, transmissions } = update;
    if (!this.#forget(update)) return;
    const { signer } = request;
    const reply = signer.sign(writeReply(request, { rcode: RCODE.SERVFAIL, extendedError }));
    for (const message of transmissions) this.#options.poster.sendFinished(message, withId(reply, message));
    this.#options.counters.countUpdate(outcome);
  }

  /** Returns false if the update no longer waits. */
  #forget(update: WaitingUpdate): boolean {
    this.#unsent.delete(update);
    return this.#waiting.remove(update);
  }

  #pollSoon(): void {
    if (this.#isStopped) return;
    this.#poll ??= setTimeout(() => void this.#pollNow(), POLL_MS);
  }

  async #pollNow(): Promise<void> {
    for (const update of this.#waiting.expired(this.#nowMs())) this.#fail(update, 'late');
    this.#poll = undefined;
    const isBusy = this.#waiting.size > 0 || this.#waiting.abandoned.length > 0;
    if (isBusy) this.#pollSoon();
    if (this.#waiting.size > 0) void this.take();
    await this.#dropAbandoned();
  }

  async #dropAbandoned(): Promise<void> {
    const slots = this.#waiting.abandoned;
    if (slots.length === 0) return;
    try {
      const rows = await this.#options.open();
      await rows.drop(slots);
      this.#waiting.dropped(slots);
    } catch (error) {
      this.#failures.write({ err: error }, 'rows of dynamic updates cannot be deleted');
    }
  }
}

function asOffered({ slot, request, deadlineMs }: WaitingUpdate): OfferedUpdate[] {
  const { octets, address, transport } = request.message;
  if (slot === undefined) return [];
  const transportName = transport === TRANSPORT.UDP ? 'udp' : 'tcp';
  return [{ slot, octets, address: addressText(address), transport: transportName, deadlineMs }];
}

/** A retransmission may have another id, because a forwarder may change it (RFC 8945 §4.2, Original ID). */
function withId(answer: Uint8Array, { headerId }: Transmission): Uint8Array {
  const copy = Uint8Array.from(answer);
  copy.set(headerId);
  return copy;
}
