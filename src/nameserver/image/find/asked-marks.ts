// The unproven zones that were asked for more than their apex since somebody looked: hashes of apexes in shared memory of a fixed
// size. All threads that answer note them and one takes them. No lock: what two threads write at once to one slot is one of
// the two hashes.

const LOG2_SLOTS = 15;
const SLOTS = 2 ** LOG2_SLOTS;
const SHIFT = 32 - LOG2_SLOTS;
/** Slots of a search, all in one cache line. When they are taken the mark is lost: the next question makes another. */
const SEARCHED = 4;

export const ASKED_MARKS_BYTES = SLOTS * 4;

export class AskedMarks {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(buffer = new SharedArrayBuffer(ASKED_MARKS_BYTES)) {
    this.buffer = buffer;
    this.#slots = new Int32Array(buffer);
  }

  /** A hash of 0 is not noted: of four thousand million apexes one has it, and on other nodes another one. */
  note(apexHash: number): void {
    const slots = this.#slots;
    const home = (apexHash >>> SHIFT) & -SEARCHED; // the upper bits depend on every bit of the name
    for (let slot = home; slot < home + SEARCHED; slot++) {
      const noted = slots[slot] as number;
      if (noted === apexHash) return; // most often: a slot that is only read stays in every core's cache
      if (noted !== 0) continue;
      slots[slot] = apexHash;
      return;
    }
  }

  /** Takes all of them. */
  take(): number[] {
    const taken: number[] = [];
    const slots = this.#slots;
    for (let slot = 0; slot < SLOTS; slot++) {
      if (slots[slot] !== 0) taken.push(Atomics.exchange(slots, slot, 0));
    }
    return taken;
  }
}
