// Chooses an origin of a pool: in turn by weight, by the client, or the quickest; those that are dead are left out until
// their health check passes again, and backups are asked when no other is alive.

import { createHash } from 'node:crypto';
import type { PoolOrigin } from '../../../../src/edge/edge-rule.ts';
import type { RuleOf, Visit } from '../proxy/visit.ts';

/** Of a measured time, what an older average still counts. */
const OLD_SHARE = 0.7;

interface Member {
  readonly origin: PoolOrigin;
  isDead: boolean;
  /** Of smooth weighted round robin. */
  current: number;
  averageMs: number;
  checkedAt: number;
}

export class OriginPools {
  readonly #members = new Map<string, Member>();

  /** All that may be asked, the first choice first. */
  choose(rule: RuleOf<'origin_pool'>, visit: Pick<Visit, 'client'>): PoolOrigin[] {
    const members = rule.origins.map((origin) => this.#memberOf(rule, origin));
    const alive = members.filter(({ isDead }) => !isDead);
    const regular = alive.filter(({ origin }) => !origin.backup);
    const backups = alive.filter(({ origin }) => origin.backup);
    // When all are dead, asking beats refusing.
    const rest = members.filter((member) => !alive.includes(member));
    return [...sort(rule, regular, visit.client), ...sort(rule, backups, visit.client), ...rest].map(
      ({ origin }) => origin,
    );
  }

  answered(rule: RuleOf<'origin_pool'>, origin: PoolOrigin, ms: number): void {
    const member = this.#memberOf(rule, origin);
    member.averageMs = member.averageMs === 0 ? ms : OLD_SHARE * member.averageMs + (1 - OLD_SHARE) * ms;
  }

  /** With a health check it stays dead until that passes; without, only this request goes on to the next. */
  failed(rule: RuleOf<'origin_pool'>, origin: PoolOrigin): void {
    if (rule.health !== undefined) this.#memberOf(rule, origin).isDead = true;
  }

  isAlive(rule: RuleOf<'origin_pool'>, origin: PoolOrigin): boolean {
    return !this.#memberOf(rule, origin).isDead;
  }

  /** The checks that are due. */
  due(rule: RuleOf<'origin_pool'>, now: number): PoolOrigin[] {
    const { health } = rule;
    if (health === undefined) return [];
    const due = rule.origins
      .map((origin) => this.#memberOf(rule, origin))
      .filter(({ checkedAt }) => now - checkedAt >= health.interval_seconds * 1_000);
    for (const member of due) member.checkedAt = now;
    return due.map(({ origin }) => origin);
  }

  checked(rule: RuleOf<'origin_pool'>, origin: PoolOrigin, isHealthy: boolean): void {
    this.#memberOf(rule, origin).isDead = !isHealthy;
  }

  #memberOf(rule: RuleOf<'origin_pool'>, origin: PoolOrigin): Member {
    const key = `${rule.id} ${JSON.stringify(origin)}`;
    const member = this.#members.get(key) ?? {
      origin,
      isDead: false,
      current: 0,
      averageMs: 0,
      checkedAt: Number.NEGATIVE_INFINITY,
    };
    this.#members.set(key, member);
    return member;
  }
}

function sort(rule: RuleOf<'origin_pool'>, members: readonly Member[], client: string): readonly Member[] {
  if (rule.method === 'round_robin') return inTurn(members);
  if (rule.method === 'least_time') return [...members].sort((a, b) => a.averageMs - b.averageMs);
  // Rendezvous hashing: when one dies, only its own clients move.
  const rank = ({ origin }: Member) => {
    const hash = createHash('sha256').update(`${client} ${origin.host} ${origin.port}`).digest();
    return -origin.weight / Math.log((hash.readUInt32BE(0) + 1) / (2 ** 32 + 1));
  };
  return [...members].sort((a, b) => rank(b) - rank(a));
}

function inTurn(members: readonly Member[]): readonly Member[] {
  const total = members.reduce((sum, { origin }) => sum + origin.weight, 0);
  for (const member of members) member.current += member.origin.weight;
  const sorted = [...members].sort((a, b) => b.current - a.current);
  const [first] = sorted;
  if (first !== undefined) first.current -= total;
  return sorted;
}
