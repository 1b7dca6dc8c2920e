import { beforeEach, describe, expect, it } from 'vitest';
import { type Ring, type RingSet, Rings } from '../../../src/nameserver/xdp/rings.ts';

const FRAMES = 16;
const FRAME_BYTES = 2048;
const RECEIVE_OFFSET = 256;

/** The kernel's side of the rings. Throws if a frame is in two places. */
class Kernel {
  readonly set: RingSet;
  /** Frames in none of the rings. */
  readonly held = new Set<number>();
  readonly sending: number[] = [];

  constructor(startIndex: number) {
    const ring = (slots: number, words: number): Ring => ({
      producer: Int32Array.of(startIndex),
      consumer: Int32Array.of(startIndex),
      flags: Int32Array.of(1),
      words: new Int32Array(slots * words),
    });
    this.set = { fill: ring(FRAMES, 2), receive: ring(8, 4), send: ring(4, 4), completion: ring(4, 2) };
  }

  #take(ring: Ring, words: number): number[] {
    const slots = ring.words.length / words;
    const at = ((ring.consumer[0] as number) & (slots - 1)) * words;
    ring.consumer[0] = ((ring.consumer[0] as number) + 1) | 0;
    return [...ring.words.subarray(at, at + words)];
  }

  #put(ring: Ring, words: readonly number[]): void {
    const slots = ring.words.length / words.length;
    ring.words.set(words, ((ring.producer[0] as number) & (slots - 1)) * words.length);
    ring.producer[0] = ((ring.producer[0] as number) + 1) | 0;
  }

  #count({ producer, consumer }: Ring): number {
    return ((producer[0] as number) - (consumer[0] as number)) | 0;
  }

  /** Returns false if no frame is free or the ring is full: the kernel drops the packet. */
  receive(octets: number): boolean {
    const { fill, receive } = this.set;
    if (this.#count(receive) === 8 || this.#count(fill) === 0) return false;
    const [address = 0] = this.#take(fill, 2);
    this.#put(receive, [(address & -FRAME_BYTES) + RECEIVE_OFFSET, 0, octets, 0]);
    return true;
  }

  send(): boolean {
    if (this.#count(this.set.send) === 0) return false;
    this.sending.push(this.#take(this.set.send, 4)[0] as number);
    return true;
  }

  complete(): boolean {
    if (this.sending.length === 0 || this.#count(this.set.completion) === 4) return false;
    this.#put(this.set.completion, [this.sending.shift() as number, 0]);
    return true;
  }

  /** Returns all frames in the rings and in the kernel, sorted. */
  get frames(): number[] {
    const inRing = (ring: Ring, words: number) =>
      Array.from({ length: this.#count(ring) }, (_, i) => {
        const slots = ring.words.length / words;
        return ring.words[(((ring.consumer[0] as number) + i) & (slots - 1)) * words] as number;
      });
    const { fill, receive, send, completion } = this.set;
    return [
      ...inRing(fill, 2),
      ...inRing(receive, 4),
      ...inRing(send, 4),
      ...inRing(completion, 2),
      ...this.sending,
    ]
      .map((address) => Math.floor(address / FRAME_BYTES))
      .sort((a, b) => a - b);
  }
}

const ALL = Array.from({ length: FRAMES }, (_, i) => i);

// The indexes also wrap around.
describe.each([0, 0x7fff_fffa, -6])('Rings from index %i', (startIndex) => {
  let kernel: Kernel;
  let rings: Rings;
  beforeEach(() => {
    kernel = new Kernel(startIndex);
    rings = new Rings(kernel.set);
    for (const i of ALL) rings.free(i * FRAME_BYTES);
    rings.publishFree();
  });

  it('returns received frames in their order, and sends and frees them', () => {
    kernel.receive(60);
    kernel.receive(61);
    expect([rings.waiting, rings.addressOf(1), rings.octetsOf(1), rings.sendRoom]).toEqual([
      2,
      2048 + 256,
      61,
      4,
    ]);
    rings.free(rings.addressOf(0));
    rings.send(rings.addressOf(1) + 100, 70);
    expect(kernel.send()).toBe(false); // not published yet
    rings.take(2);
    expect([rings.waiting, rings.unsent, rings.sendRoom]).toEqual([0, 1, 3]);
    expect([kernel.send(), kernel.complete()]).toEqual([true, true]);
    rings.freeCompleted();
    expect(kernel.frames).toEqual(ALL);
    expect(rings.sendNeedsWakeup).toBe(true);
  });

  it('neither loses a frame nor uses one twice, for random steps with full rings and replaced threads', () => {
    let random = 7;
    const next = (limit: number) => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      return (random >>> 8) % limit;
    };
    let dropped = 0;
    let full = 0;
    for (let step = 0; step < 1500; step++) {
      for (let i = next(6); i > 0; i--) if (!kernel.receive(60)) dropped++;
      const count = Math.min(rings.waiting, rings.sendRoom, next(5));
      if (rings.sendRoom === 0) full++;
      for (let i = 0; i < count; i++) {
        if (next(3) === 0) rings.free(rings.addressOf(i));
        else rings.send(rings.addressOf(i) + 64, 80);
      }
      if (next(20) === 0)
        rings = new Rings(kernel.set); // the thread died before it took the batch
      else rings.take(count);
      if (next(2) === 0) while (next(4) > 0 && kernel.send());
      while (next(3) > 0 && kernel.complete());
      if (next(3) > 0) rings.freeCompleted();
      if (step % 50 === 0) expect(kernel.frames).toEqual(ALL);
    }
    expect(Math.min(dropped, full)).toBeGreaterThan(0);
  });
});
