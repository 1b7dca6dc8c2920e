// The streams of this process that follow domains, and their limits: their number, whether their clients read them,
// and whether each caller may still see its domain.

import { Gate } from '../edge/waiting.ts';
import type { DomainWatch } from './domain-watch.ts';

/** `ended` means that the caller may no longer follow. */
export type Judgement = 'same' | 'ended';

export interface NewFollower {
  readonly domainId: number;
  /** The API key or session that follows. */
  readonly holder: string;
  readonly accountId: number;
  /** Checks again whether the caller may follow. Rejects if that cannot be determined now. */
  readonly judge: () => Promise<Judgement>;
}

export interface Follower extends NewFollower {
  readonly watch: DomainWatch;
  readonly ended: AbortSignal;
  /** Time since which the last piece waits to be read. Undefined if the client has read it. */
  unreadSinceMs: number | undefined;
  leave(): void;
}

interface Held extends Follower {
  readonly ending: AbortController;
  judgedAtMs: number;
  isJudged: Promise<void> | undefined;
}

export interface EventLimits {
  readonly ofHolder: number;
  readonly ofAccount: number;
  readonly streams: number;
  /** Interval at which rights are checked again. */
  readonly judgeMs: number;
  /** No event is sent if the last successful check is older than this. */
  readonly judgedForMs: number;
  /** A stream ends if its client does not read it for this time. */
  readonly unreadMs: number;
}

const LIMITS: EventLimits = {
  ofHolder: 4,
  ofAccount: 20,
  streams: 2000,
  judgeMs: 20_000,
  judgedForMs: 30_000,
  unreadMs: 30_000,
};
const CONCURRENT_CHECKS = 4;

interface FollowerEvents {
  /** Called after a follower of the watch has left. */
  readonly onLeave: (watch: DomainWatch) => void;
  readonly onTrouble: (error: unknown) => void;
}

export class Followers {
  readonly #limits: EventLimits;
  readonly #events: FollowerEvents;
  readonly #held = new Set<Held>();
  readonly #judging = new Gate(CONCURRENT_CHECKS);

  constructor(limits: Partial<EventLimits> | undefined, events: FollowerEvents) {
    this.#limits = { ...LIMITS, ...limits };
    this.#events = events;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Returns the follower, or the holder of the limit that is reached. */
  join(follower: NewFollower, watch: DomainWatch): Follower | 'holder' | 'account' | 'process' {
    const { ofHolder, ofAccount, streams } = this.#limits;
    if (this.#held.size >= streams) return 'process';
    const held = [...this.#held];
    if (held.filter(({ holder }) => holder === follower.holder).length >= ofHolder) return 'holder';
    if (held.filter(({ accountId }) => accountId === follower.accountId).length >= ofAccount)
      return 'account';
    const ending = new AbortController();
    const joined: Held = {
      ...follower,
      watch,
      ending,
      ended: ending.signal,
      judgedAtMs: performance.now(),
      isJudged: undefined,
      unreadSinceMs: undefined,
      leave: () => this.#leave(joined),
    };
    this.#held.add(joined);
    return joined;
  }

  /** Returns true if a stream follows the domain. */
  follow(watch: DomainWatch): boolean {
    return [...this.#held].some((held) => held.watch === watch);
  }

  async mayTell(follower: Follower): Promise<boolean> {
    const held = follower as Held;
    const isOld = () => performance.now() - held.judgedAtMs > this.#limits.judgedForMs;
    if (isOld()) await this.#judge(held);
    return !held.ended.aborted && !isOld();
  }

  /** Ends the streams that are not read, and checks the rights of the others if that is due. */
  tick(): void {
    const nowMs = performance.now();
    for (const follower of [...this.#held]) {
      const unreadMs = follower.unreadSinceMs === undefined ? 0 : nowMs - follower.unreadSinceMs;
      if (unreadMs > this.#limits.unreadMs) this.#end(follower);
      else if (nowMs - follower.judgedAtMs > this.#limits.judgeMs) void this.#judge(follower);
    }
  }

  endAll(): void {
    for (const follower of [...this.#held]) this.#end(follower);
  }

  #end(follower: Held): void {
    follower.ending.abort();
    this.#leave(follower);
  }

  #leave(follower: Held): void {
    if (this.#held.delete(follower)) this.#events.onLeave(follower.watch);
  }

  #judge(follower: Held): Promise<void> {
    follower.isJudged ??= this.#judging
      .run(async () => {
        if (follower.ended.aborted) return;
        const beganMs = performance.now();
        if ((await follower.judge()) === 'ended') this.#end(follower);
        else follower.judgedAtMs = beganMs;
      })
      .catch((error: unknown) => this.#events.onTrouble(error))
      .finally(() => {
        follower.isJudged = undefined;
      });
    return follower.isJudged;
  }
}
