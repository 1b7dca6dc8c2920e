// The four rings of an AF_XDP socket (the kernel's Documentation/networking/af_xdp.rst), and the frames in them. Each
// frame is in one ring or with the kernel, and moves only in these ways:
//
//   fill ──kernel──▶ receive ──reply──▶ send ──kernel──▶ completion ──▶ fill
//                    receive ──without a reply──▶ fill
//
// The fill ring has space for all frames, so it never overflows. The node keeps no other list of frames: if the thread or
// the process is replaced, the next one continues from the indexes in the rings. The index of a consumer is stored first,
// so that no frame is ever in two rings: a thread that is killed before it stores the others loses the frames of a batch.

/** A ring as mapped memory. Indexes count without end, modulo 2^32. */
export interface Ring {
  readonly producer: Int32Array;
  readonly consumer: Int32Array;
  readonly flags: Int32Array;
  /** The descriptors, as words. Their number is a power of two. */
  readonly words: Int32Array;
}

export interface RingSet {
  readonly fill: Ring;
  readonly receive: Ring;
  readonly send: Ring;
  readonly completion: Ring;
}

const ADDRESS_WORDS = 2; // u64
const DESCRIPTOR_WORDS = 4; // struct xdp_desc
const NEED_WAKEUP = 1;

export class Rings {
  readonly #set: RingSet;
  readonly #addressMask: number;
  readonly #completionMask: number;
  readonly #receiveMask: number;
  readonly #sendMask: number;
  readonly #sendSlots: number;
  // The indexes that the node writes. Those in the rings are updated once per batch.
  #filled: number;
  #received: number;
  #sent: number;
  #completed: number;

  constructor(set: RingSet) {
    this.#set = set;
    this.#addressMask = set.fill.words.length / ADDRESS_WORDS - 1;
    this.#completionMask = set.completion.words.length / ADDRESS_WORDS - 1;
    this.#receiveMask = set.receive.words.length / DESCRIPTOR_WORDS - 1;
    this.#sendSlots = set.send.words.length / DESCRIPTOR_WORDS;
    this.#sendMask = this.#sendSlots - 1;
    this.#filled = Atomics.load(set.fill.producer, 0);
    this.#received = Atomics.load(set.receive.consumer, 0);
    this.#sent = Atomics.load(set.send.producer, 0);
    this.#completed = Atomics.load(set.completion.consumer, 0);
  }

  /** Returns the number of received frames that have not been taken. */
  get waiting(): number {
    return (Atomics.load(this.#set.receive.producer, 0) - this.#received) | 0;
  }

  /** Returns the number of frames that can be sent. */
  get sendRoom(): number {
    return this.#sendSlots - this.unsent;
  }

  /** Returns the number of frames that the kernel has not yet taken for sending. */
  get unsent(): number {
    return (this.#sent - Atomics.load(this.#set.send.consumer, 0)) | 0;
  }

  /** True if the kernel sends only after a system call. */
  get sendNeedsWakeup(): boolean {
    return ((this.#set.send.flags[0] as number) & NEED_WAKEUP) !== 0;
  }

  /** True if the kernel receives only after a system call. */
  get fillNeedsWakeup(): boolean {
    return ((this.#set.fill.flags[0] as number) & NEED_WAKEUP) !== 0;
  }

  /** Returns the offset of the `i`-th waiting frame in the memory of the frames. */
  addressOf(i: number): number {
    return this.#set.receive.words[((this.#received + i) & this.#receiveMask) * DESCRIPTOR_WORDS] as number;
  }

  octetsOf(i: number): number {
    return this.#set.receive.words[
      ((this.#received + i) & this.#receiveMask) * DESCRIPTOR_WORDS + 2
    ] as number;
  }

  /** Sends octets of a received frame. The caller must have checked `sendRoom`. */
  send(address: number, octets: number): void {
    const { words } = this.#set.send;
    const at = (this.#sent & this.#sendMask) * DESCRIPTOR_WORDS;
    words[at] = address;
    words[at + 1] = 0;
    words[at + 2] = octets;
    words[at + 3] = 0;
    this.#sent = (this.#sent + 1) | 0;
  }

  /** Returns a frame to the kernel. The address may be anywhere in the frame. */
  free(address: number): void {
    const { words } = this.#set.fill;
    const at = (this.#filled & this.#addressMask) * ADDRESS_WORDS;
    words[at] = address;
    words[at + 1] = 0;
    this.#filled = (this.#filled + 1) | 0;
  }

  /** Frees the frames that the kernel has sent. */
  freeCompleted(): void {
    const { completion } = this.#set;
    const end = Atomics.load(completion.producer, 0);
    if (end === this.#completed) return;
    for (; this.#completed !== end; this.#completed = (this.#completed + 1) | 0) {
      this.free(completion.words[(this.#completed & this.#completionMask) * ADDRESS_WORDS] as number);
    }
    Atomics.store(completion.consumer, 0, end);
    this.publishFree();
  }

  /** Passes the freed frames to the kernel. */
  publishFree(): void {
    Atomics.store(this.#set.fill.producer, 0, this.#filled);
  }

  /** Takes the first `count` waiting frames, each of which has been passed to `send` or `free`, and publishes these. */
  take(count: number): void {
    this.#received = (this.#received + count) | 0;
    Atomics.store(this.#set.receive.consumer, 0, this.#received);
    Atomics.store(this.#set.send.producer, 0, this.#sent);
    this.publishFree();
  }
}
