// The unproven zones that received queries below their apex since the last `take`, as hashes of apexes in shared memory
// of a fixed size. All answering threads write and one takes, without a lock: if two threads write to a slot
// concurrently, one of the hashes remains.

const LOG2_SLOTS = 15;
const SLOTS = 2 ** LOG2_SLOTS;
const SHIFT = 32 - LOG2_SLOTS;
/** Slots per search, all in one cache line. If they are all used the mark is lost; the next query makes another. */
const SEARCHED = 4;

export const ASKED_MARKS_BYTES = SLOTS * 4;

export class AskedMarks {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(buffer = new SharedArrayBuffer(ASKED_MARKS_BYTES)) {
    this.buffer = buffer;
    this.#slots = new Int32Array(buffer);
  }

  /** A hash of 0 is not recorded. One of four billion apexes has it, and another one on every node. */
  note(apexHash: number): void {
    const slots = this.#slots;
    const home = (apexHash >>> SHIFT) & -SEARCHED; // the upper bits depend on every bit of the name
    for (let slot = home; slot < home + SEARCHED; slot++) {
      const noted = slots[slot] as number;
      if (noted === apexHash) return; // the usual case; a slot that is only read stays in every core's cache
      if (noted !== 0) continue;
      slots[slot] = apexHash;
      return;
    }
  }

  /** Returns and clears all marks. */
  take(): number[] {
    const taken: number[] = [];
    const slots = this.#slots;
    for (let slot = 0; slot < SLOTS; slot++) {
      if (slots[slot] !== 0) taken.push(Atomics.exchange(slots, slot, 0));
    }
    return taken;
  }
}
