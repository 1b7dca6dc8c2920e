// Compares every decision of the simulated checker with what the parents really published: it knows the truth and the
// packets that arrived, and nothing of how the rules conclude.

import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import type { ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import type { Decision } from '../../../src/checks/delegation/next-status.ts';
import { printName } from '../../../src/dns/name.ts';
import { namesOurs, readySince, type SimulatedDomain, showsAcceptedSet } from './simulated-domains.ts';
import { END, type SimulatedParent, shownBy, type Weather } from './simulated-parents.ts';
import { RULES } from './simulated-rules.ts';
import { DAY, HOUR, isWithin, MINUTE, overlaps, type Span } from './virtual-time.ts';

export type Violation =
  | 'false moved'
  | 'false active'
  | 'wrongly disabled'
  | 'wrongly left'
  | 'departure not found'
  | 'never activated';

/** The longest time between two checks of an active domain. */
const ACTIVE_INTERVAL = 1.2 * 12 * HOUR;
/** Until the first check that can see a departure, until the row of misses is long enough, and a few that get lost. */
const FOUND_WITHIN = ACTIVE_INTERVAL + DAY + 3 * 1.2 * HOUR;
/** Checks in a row of which no packet arrives, while nothing is wrong but the usual loss: one in a thousand. */
const BLIND_CHECKS = 3;
/** What an address says for its zone; an answer is of a server that also holds the domain's. */
const SAID: ReadonlySet<string> = new Set(['referral', 'nodata', 'nxdomain', 'alias']);

export class Truth {
  readonly violations: { readonly kind: Violation; readonly text: string }[] = [];
  /** From the moment that all servers of the parent published, within 6 hours of the creation, until `active`. */
  readonly secondsToActivate: number[] = [];
  private readonly weather: Weather;
  private readonly clockTroubles: readonly Span[];

  constructor(weather: Weather) {
    this.weather = weather;
    const { clock } = weather;
    // while it is off, and afterwards until the delayed checks are done
    this.clockTroubles = clock.flatMap(({ from, offset }, i) =>
      offset === 0 ? [] : [{ from, to: (clock[i + 1]?.from ?? END) + Math.abs(offset) + ACTIVE_INTERVAL }],
    );
  }

  /** What was heard of a domain: at least two addresses, or all, that say the same and do not name us. */
  look(domain: SimulatedDomain, servers: readonly ServerEvidence[], now: number): void {
    const heard = servers.filter(({ outcome }) => SAID.has(outcome));
    const [first] = heard;
    // a server that still holds the domain contradicts denials, but not referrals
    const contradicts = first?.outcome !== 'referral' && servers.some(({ outcome }) => outcome === 'answer');
    const saysSame = ({ outcome, ns }: ServerEvidence) =>
      outcome === first?.outcome && ns.join() === first.ns.join();
    if (heard.some(({ ns }) => namesOurs(ns))) domain.looks = undefined;
    else if (heard.length >= quorum(domain.parent) && !contradicts && heard.every(saysSame)) {
      const { count = 0, firstAt = now } = domain.looks ?? {};
      domain.looks = { count: count + 1, firstAt, lastAt: now };
    }
  }

  judge(domain: SimulatedDomain, before: CheckState, decision: Decision, now: number, endedAt: number): void {
    const { to, frozen } = decision;
    const isGone = showing(domain, now, ({ ns }) => !namesOurs(ns)) >= quorum(domain.parent);
    const violates = (kind: Violation, isWrong: boolean) => {
      if (isWrong) this.violate(kind, domain, now);
    };
    if (to === before.status) {
      if (to === 'active' && !frozen) violates('departure not found', this.isOverlooked(domain, now));
      return;
    }
    switch (to) {
      case 'active':
        violates('false active', showing(domain, now, showsAcceptedSet) < quorum(domain.parent));
        if (before.status === 'pending') this.timeActivation(domain, now, endedAt);
        return;
      case 'moved':
        violates('false moved', !isGone || !this.isLongAway(domain, now) || (domain.looks?.count ?? 0) < 3);
        if (domain.departsAt !== undefined && now >= domain.departsAt) domain.movedAt ??= now;
        return;
      case 'disabled': {
        const span = before.status === 'moved' ? RULES.movedGraceMs : RULES.pendingMaxMs;
        violates('wrongly disabled', !isGone || !this.isOver(domain, span, now));
        return;
      }
      case 'left':
        violates('wrongly left', !isGone && !this.isOver(domain, RULES.movedGraceMs, now));
    }
  }

  judgeTheEnd(domains: readonly SimulatedDomain[]): void {
    for (const domain of domains) {
      this.judgeDeparture(domain);
      if (domain.state?.status !== 'pending') continue;
      const ready = readySince(domain, END);
      if (ready !== undefined && END - ready > DAY && !this.isTroubled(domain.parent, ready, END))
        this.violate('never activated', domain, END);
    }
  }

  /** It stays active after enough looks, though nothing held the move. */
  private isOverlooked({ looks, heldAt }: SimulatedDomain, now: number): boolean {
    if (looks?.lastAt !== now || looks.count < 3 || heldAt !== undefined) return false;
    // the rules count from the end of a check, this simulation from its start
    const isLate = now - looks.firstAt > RULES.movedAfterMs + MINUTE;
    return isLate && !overlaps(this.clockTroubles, looks.firstAt, now);
  }

  private timeActivation(domain: SimulatedDomain, now: number, endedAt: number): void {
    const { parent, createdAt } = domain;
    const published = readySince(domain, now);
    if (published === undefined || published > createdAt + 6 * HOUR) return;
    const ready = Math.max(published, createdAt);
    if (!this.isTroubled(parent, ready, Math.min(endedAt, ready + HOUR)))
      this.secondsToActivate.push((endedAt - ready) / 1000);
  }

  /** For MOVED_AFTER, less what the clock had jumped. */
  private isLongAway(domain: SimulatedDomain, now: number): boolean {
    const lastOurs = lastShown(domain, now - domain.parent.maxLag);
    return now - lastOurs + this.jumpedForward(lastOurs, now) >= RULES.movedAfterMs;
  }

  private judgeDeparture(domain: SimulatedDomain): void {
    const { departsAt, movedAt, history } = domain;
    if (departsAt === undefined) return;
    const backAt = history.find(({ at, ns }) => at > departsAt && namesOurs(ns))?.at ?? END;
    const latest = this.findBy(domain, departsAt);
    if ((movedAt ?? backAt) > latest) this.violate('departure not found', domain, latest);
  }

  /** By when a departure must have been found, whatever stood in the way meanwhile. */
  private findBy({ parent, heldAt }: SimulatedDomain, departsAt: number): number {
    let by = departsAt + parent.maxLag + FOUND_WITHIN + BLIND_CHECKS * ACTIVE_INTERVAL;
    for (const { from, to } of this.troublesOf(parent).sort((a, b) => a.from - b.from))
      if (from <= by && to >= departsAt) by += to - Math.max(from, departsAt) + ACTIVE_INTERVAL;
    return heldAt === undefined ? by : Math.max(by, heldAt + 2 * HOUR);
  }

  private isOver({ enteredAt }: SimulatedDomain, spanMs: number, now: number): boolean {
    return now - enteredAt + this.jumpedForward(enteredAt, now) >= spanMs - MINUTE;
  }

  /** By how much more time the clock says went by between two moments than did, at most. */
  private jumpedForward(from: number, to: number): number {
    const { clock } = this.weather;
    const offsets = clock.filter((change, i) => change.from <= to && (clock[i + 1]?.from ?? END) > from);
    let lowest = Number.POSITIVE_INFINITY;
    let most = 0;
    for (const { offset } of offsets) {
      lowest = Math.min(lowest, offset);
      most = Math.max(most, offset - lowest);
    }
    return most;
  }

  private troublesOf({ servers, incident, isOurs }: SimulatedParent): Span[] {
    const ofServers = servers.flatMap(({ faults, wrong }) => [...faults, ...wrong]);
    return [...ofServers, ...incident, ...(isOurs ? [] : this.weather.offline), ...this.clockTroubles];
  }

  private isTroubled(parent: SimulatedParent, from: number, to: number): boolean {
    return overlaps(this.troublesOf(parent), from, to);
  }

  private violate(kind: Violation, { name, kind: script, parent }: SimulatedDomain, now: number): void {
    const where = `${parent.servers.length} servers of ${printName(parent.zone)}`;
    const text = `${kind}: ${printName(name)} (${script}, ${where}) on day ${(now / DAY).toFixed(2)}`;
    this.violations.push({ kind, text });
  }
}

function quorum({ servers }: SimulatedParent): number {
  return Math.min(2, servers.length);
}

/** The number of servers of the parent that really show what is wanted. */
function showing(
  { parent, history }: SimulatedDomain,
  now: number,
  isWanted: (shown: ReturnType<typeof shownBy>) => boolean,
): number {
  return parent.servers.filter((_, s) => isWanted(shownBy(parent, s, history, now))).length;
}

/** When the parent's primary last showed any of our servers. */
function lastShown({ history, parent: { incident } }: SimulatedDomain, at: number): number {
  for (const [i, { at: from, ns }] of [...history.entries()].reverse()) {
    if (from > at || !namesOurs(ns)) continue;
    const to = Math.min(history[i + 1]?.at ?? at, at);
    const [mistake] = incident;
    if (mistake === undefined || !isWithin(incident, to)) return to;
    if (mistake.from > from) return mistake.from;
  }
  return Number.NEGATIVE_INFINITY;
}
