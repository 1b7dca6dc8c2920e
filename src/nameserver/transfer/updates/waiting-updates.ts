// The dynamic updates that wait for their answers. Their numbers and sizes are limited, and each has a slot: the number of
// its row in Postgres.

import type { Name } from '../../../dns/name.ts';
import { UPDATE_SLOTS, UPDATE_WAIT_MS } from '../../../store/updates/queue.ts';
import { TRANSPORT } from '../../answer/transports.ts';
import type { SlowMessage } from '../messages.ts';
import type { VerifiedRequest } from '../post-answers.ts';
import type { AnswerSigner } from '../verify-message.ts';

const MAX_WAITING = 1000;
/** One zone, or one key, cannot use up the slots. */
const MAX_OF_ZONE = 100;
const MAX_OF_KEY = 200;
/** Keys without a known grant in the zone share few slots. Their grants may be newer than the configuration. */
const MAX_WITHOUT_GRANT = { total: 16, ofKey: 4 } as const;
const MAX_OCTETS = 16 * 2 ** 20;
/** Transmissions of one message over UDP that get its answer. Each one over TCP gets it. */
const MAX_UDP_TRANSMISSIONS = 8;

export interface SignedUpdate extends VerifiedRequest {
  readonly signer: AnswerSigner;
}

/** The data required to answer a transmission. The octets of a long message are kept only once. */
export interface Transmission extends Pick<SlowMessage, 'id' | 'transport'> {
  /** The id in the header of the message. */
  readonly headerId: Uint8Array;
}

interface ZoneOfUpdate {
  readonly zone: Name;
  /** True if the key is known to have a grant in the zone. */
  readonly hasGrant: boolean;
}

export interface WaitingUpdate {
  readonly request: SignedUpdate;
  /** The counts to which the update belongs. */
  readonly limits: readonly CountLimit[];
  /** The message and its retransmissions, without those whose connection has ended. */
  readonly transmissions: Transmission[];
  readonly deadlineMs: number;
  /** Undefined if the row is deleted, because its answer was taken. */
  slot: number | undefined;
  /** True if Postgres may have the row. */
  isOffered: boolean;
}

type Added =
  | { readonly kind: 'added'; readonly update: WaitingUpdate }
  /** The message waits already. It gets the same answer. */
  | { readonly kind: 'repeated' }
  /** The message waits already, and was repeated too often over UDP. */
  | { readonly kind: 'ignored' }
  /** A limit is reached. */
  | { readonly kind: 'busy' };

export class WaitingUpdates {
  /** By key and MAC, the oldest first. */
  readonly #updates = new Map<string, WaitingUpdate>();
  readonly #bySlot = new Map<number, WaitingUpdate>();
  readonly #byId = new Map<number, WaitingUpdate>();
  readonly #counts = new Map<string, number>();
  /** The slot that was freed first is used first. */
  readonly #free = Array.from({ length: UPDATE_SLOTS }, (_, slot) => slot);
  /** Slots whose rows must be deleted before they are used again. */
  readonly #abandoned = new Set<number>();
  #octets = 0;

  get size(): number {
    return this.#updates.size;
  }

  get abandoned(): readonly number[] {
    return [...this.#abandoned];
  }

  add(request: SignedUpdate, updated: ZoneOfUpdate, nowMs: number): Added {
    const { message } = request;
    const known = this.#updates.get(identityOf(request));
    if (known !== undefined) {
      const isRepeatedOften = known.transmissions.length >= MAX_UDP_TRANSMISSIONS;
      if (message.transport === TRANSPORT.UDP && isRepeatedOften) return { kind: 'ignored' };
      known.transmissions.push(transmissionOf(message));
      this.#byId.set(message.id, known);
      return { kind: 'repeated' };
    }
    const limits = limitsOf(request, updated);
    const isFull =
      this.#updates.size >= MAX_WAITING ||
      this.#octets + message.octets.length > MAX_OCTETS ||
      limits.some(({ name, most }) => (this.#counts.get(name) ?? 0) >= most);
    const slot = isFull ? undefined : this.#free.shift();
    if (slot === undefined) return { kind: 'busy' };
    const update: WaitingUpdate = {
      request,
      limits,
      transmissions: [transmissionOf(message)],
      deadlineMs: nowMs + UPDATE_WAIT_MS,
      slot,
      isOffered: false,
    };
    this.#updates.set(identityOf(request), update);
    this.#bySlot.set(slot, update);
    this.#byId.set(message.id, update);
    this.#octets += message.octets.length;
    this.#count(limits, 1);
    return { kind: 'added', update };
  }

  /** Returns the update whose answer was taken from this slot, and frees the slot. */
  answered(slot: number): WaitingUpdate | undefined {
    const update = this.#bySlot.get(slot);
    if (update === undefined) return undefined;
    this.#bySlot.delete(slot);
    this.#free.push(slot);
    update.slot = undefined;
    return update;
  }

  /** Forgets an update. Its slot is free again when its row is deleted. Returns false if the update is not known. */
  remove(update: WaitingUpdate): boolean {
    const { request, limits, slot, isOffered, transmissions } = update;
    if (!this.#updates.delete(identityOf(request))) return false;
    for (const { id } of transmissions) this.#byId.delete(id);
    this.#octets -= request.message.octets.length;
    this.#count(limits, -1);
    if (slot === undefined) return true;
    this.#bySlot.delete(slot);
    if (isOffered) this.#abandoned.add(slot);
    else this.#free.push(slot);
    return true;
  }

  /** Forgets a transmission whose connection has ended. Returns the update if no other transmission waits for it. */
  closed(id: number): WaitingUpdate | undefined {
    const update = this.#byId.get(id);
    if (update === undefined) return undefined;
    this.#byId.delete(id);
    const { transmissions } = update;
    transmissions.splice(
      transmissions.findIndex((message) => message.id === id),
      1,
    );
    return transmissions.length === 0 ? update : undefined;
  }

  /** Returns the updates that got no answer in time. */
  expired(nowMs: number): WaitingUpdate[] {
    const found: WaitingUpdate[] = [];
    for (const update of this.#updates.values()) {
      if (update.deadlineMs > nowMs) break;
      if (update.slot !== undefined) found.push(update);
    }
    return found;
  }

  all(): WaitingUpdate[] {
    return [...this.#updates.values()];
  }

  /** Frees abandoned slots. Call it when their rows are deleted. */
  dropped(slots: readonly number[]): void {
    for (const slot of slots) if (this.#abandoned.delete(slot)) this.#free.push(slot);
  }

  #count(limits: readonly CountLimit[], by: number): void {
    for (const { name } of limits) {
      const count = (this.#counts.get(name) ?? 0) + by;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }
}

function transmissionOf({ id, transport, octets }: SlowMessage): Transmission {
  return { id, transport, headerId: Uint8Array.from(octets.subarray(0, 2)) };
}

/** A retransmission has the same MAC. */
function identityOf({ signer }: SignedUpdate): string {
  return `${signer.keyId} ${Buffer.from(signer.requestMac).toString('latin1')}`;
}

/** A number of waiting updates, and its maximum. */
interface CountLimit {
  readonly name: string;
  readonly most: number;
}

function limitsOf({ signer: { keyId } }: SignedUpdate, { zone, hasGrant }: ZoneOfUpdate): CountLimit[] {
  if (hasGrant)
    return [
      { name: `zone ${zone}`, most: MAX_OF_ZONE },
      { name: `key ${keyId}`, most: MAX_OF_KEY },
    ];
  return [
    { name: 'without grant', most: MAX_WITHOUT_GRANT.total },
    { name: `without grant ${keyId}`, most: MAX_WITHOUT_GRANT.ofKey },
  ];
}
