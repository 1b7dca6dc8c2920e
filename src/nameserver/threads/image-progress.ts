// The task and progress of the image's thread, in shared memory. The main thread shows it on /readyz, and ends a thread
// that makes no progress. The thread counts steps and turns of its event loop, and the main thread its own checks, so
// that neither reads the other's clock.

/** `waiting`: the thread waits for the database or for a change. All other tasks are work, counted in steps. */
const DOING = [
  'starting',
  'reading the snapshot',
  'reading the log of the snapshot',
  'waiting',
  'building zones',
  'checking the snapshot',
] as const;
export type Doing = (typeof DOING)[number];

const WORD = { DOING: 0, STEPS: 1, BEATS: 2, DONE: 3, TOTAL: 4 } as const;
const WORDS = 5;
const BEAT_MS = 500;

export class ImageProgress {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(buffer = new SharedArrayBuffer(WORDS * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  // ——— the thread of the image ———

  begin(doing: Doing): void {
    this.#words[WORD.STEPS] = ((this.#words[WORD.STEPS] as number) + 1) | 0;
    Atomics.store(this.#words, WORD.DOING, DOING.indexOf(doing));
  }

  readonly step = (): void => {
    this.#words[WORD.STEPS] = ((this.#words[WORD.STEPS] as number) + 1) | 0;
  };

  /** Sets the progress: MiB of the snapshot, or loaded zones. */
  reach(done: number, total: number): void {
    this.#words[WORD.DONE] = done;
    this.#words[WORD.TOTAL] = total;
    this.step();
  }

  /** Counts turns of the event loop until `end` is called. */
  beat(): { end(): void } {
    const timer = setInterval(() => {
      this.#words[WORD.BEATS] = ((this.#words[WORD.BEATS] as number) + 1) | 0;
    }, BEAT_MS);
    timer.unref();
    return { end: () => clearInterval(timer) };
  }

  // ——— the main thread ———

  get doing(): Doing {
    return DOING[Atomics.load(this.#words, WORD.DOING)] as Doing;
  }

  get steps(): number {
    return Atomics.load(this.#words, WORD.STEPS);
  }

  get beats(): number {
    return Atomics.load(this.#words, WORD.BEATS);
  }

  get done(): number {
    return Atomics.load(this.#words, WORD.DONE);
  }

  get total(): number {
    return Atomics.load(this.#words, WORD.TOTAL);
  }
}

/** Number of checks, one per second, without a step during work, or without a turn of the event loop while waiting. */
const MAX_LOOKS = 60;
/** Number of checks before the first step, while the thread loads its code, perhaps concurrently with others. */
const MAX_LOOKS_AT_START = 600;

export class StandstillWatch {
  #steps = -1;
  #beats = -1;
  #looks = 0;

  /** Returns true, once, when the thread has made no progress for that many checks. */
  look({ doing, steps, beats }: Pick<ImageProgress, 'doing' | 'steps' | 'beats'>): boolean {
    const isStill = steps === this.#steps && (doing !== 'waiting' || beats === this.#beats);
    this.#looks = isStill ? this.#looks + 1 : 0;
    this.#steps = steps;
    this.#beats = beats;
    return this.#looks === (steps === 0 ? MAX_LOOKS_AT_START : MAX_LOOKS);
  }
}
