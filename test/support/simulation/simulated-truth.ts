// Holds every decision of the simulated checker against what the parents really published: it knows the truth and the
// packets that arrived, and nothing of how the rules conclude.

import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import type { ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import type { Decision, Rules } from '../../../src/checks/delegation/next-status.ts';
import { printName } from '../../../src/dns/name.ts';
import { namesOurs, readySince, type SimulatedDomain, showsAcceptedSet } from './simulated-domains.ts';
import {
  DAY,
  END,
  HOUR,
  isWithinAny,
  MINUTE,
  type SimulatedParent,
  type Span,
  shownBy,
  type Weather,
} from './simulated-parents.ts';

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

export class Truth {
  readonly violations: { readonly kind: Violation; readonly text: string }[] = [];
  /** From the moment that the parent published a departure until the domain was `moved`. */
  readonly hoursToFind: number[] = [];
  /** Of those, where nothing but the usual loss of packets was in the way. */
  readonly hoursToFindCalmly: number[] = [];
  /** From the moment that all servers of the parent published, within 6 hours of the creation, until `active`. */
  readonly secondsToActivate: number[] = [];
  /** Departures that were over before anybody could be sure of them. */
  tooShort = 0;
  /** Moves before MOVED_AFTER was really over, by no more than the clock had jumped. */
  hastened = 0;
  private readonly weather: Weather;
  private readonly rules: Rules;
  private readonly clockTroubles: readonly Span[];

  constructor(weather: Weather, rules: Rules) {
    this.weather = weather;
    this.rules = rules;
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
    if (heard.some(({ ns }) => namesOurs(ns))) domain.looks = undefined;
    else if (
      first !== undefined &&
      !contradicts &&
      heard.length >= quorum(domain.parent) &&
      heard.every((s) => saysSame(s, first))
    )
      domain.looks = {
        count: (domain.looks?.count ?? 0) + 1,
        firstAt: domain.looks?.firstAt ?? now,
        lastAt: now,
      };
  }

  judge(domain: SimulatedDomain, before: CheckState, decision: Decision, now: number, endedAt: number): void {
    switch (decision.to) {
      case before.status:
        if (before.status === 'active' && !decision.frozen) this.judgeStaying(domain, now);
        return;
      case 'active':
        this.judgeActivation(domain, before, now, endedAt);
        return;
      case 'moved':
        this.judgeMove(domain, now);
        return;
      case 'disabled': {
        const span = before.status === 'moved' ? this.rules.movedGraceMs : this.rules.pendingMaxMs;
        if (!isGone(domain, now) || !this.isOver(domain, span, now))
          this.violate('wrongly disabled', domain, now);
        return;
      }
      case 'left':
        if (!isGone(domain, now) && !this.isOver(domain, this.rules.movedGraceMs, now))
          this.violate('wrongly left', domain, now);
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

  private judgeStaying(domain: SimulatedDomain, now: number): void {
    const { looks, heldAt } = domain;
    if (looks?.lastAt !== now || looks.count < 3 || heldAt !== undefined) return;
    const isClockRight = !overlaps(this.clockTroubles, looks.firstAt, now);
    // the rules count from the end of a check, this simulation from its start
    if (isClockRight && now - looks.firstAt > this.rules.movedAfterMs + MINUTE)
      this.violate('departure not found', domain, now);
  }

  private judgeActivation(domain: SimulatedDomain, before: CheckState, now: number, endedAt: number): void {
    const { parent, history, createdAt } = domain;
    const showing = parent.servers.filter((_, s) => showsAcceptedSet(shownBy(parent, s, history, now)));
    if (showing.length < quorum(parent)) this.violate('false active', domain, now);
    if (before.status !== 'pending') return;
    const published = readySince(domain, now);
    if (published === undefined || published > createdAt + 6 * HOUR) return;
    const ready = Math.max(published, createdAt);
    if (!this.isTroubled(parent, ready, Math.min(endedAt, ready + HOUR)))
      this.secondsToActivate.push((endedAt - ready) / 1000);
  }

  private judgeMove(domain: SimulatedDomain, now: number): void {
    const { parent, departsAt, looks } = domain;
    const lastOurs = lastShown(domain, now - parent.maxLag);
    const away = now - lastOurs;
    const isLongAway = away + this.jumpedForward(lastOurs, now) >= this.rules.movedAfterMs;
    if (!isGone(domain, now) || !isLongAway || looks === undefined || looks.count < 3)
      this.violate('false moved', domain, now);
    else if (away < this.rules.movedAfterMs) this.hastened++;
    if (departsAt === undefined || now < departsAt || domain.movedAt !== undefined) return;
    domain.movedAt = now;
    const hours = (now - departsAt) / HOUR;
    this.hoursToFind.push(hours);
    if (!this.isTroubled(parent, departsAt, now)) this.hoursToFindCalmly.push(hours);
  }

  private judgeDeparture(domain: SimulatedDomain): void {
    const { departsAt, movedAt, history } = domain;
    if (departsAt === undefined) return;
    const backAt = history.find(({ at, ns }) => at > departsAt && namesOurs(ns))?.at ?? END;
    const latest = this.findBy(domain, departsAt);
    if ((movedAt ?? backAt) > latest) this.violate('departure not found', domain, latest);
    else if (movedAt === undefined) this.tooShort++;
  }

  /** By when a departure must have been found, whatever stood in the way meanwhile. */
  private findBy({ parent, heldAt }: SimulatedDomain, departsAt: number): number {
    let by = departsAt + parent.maxLag + FOUND_WITHIN + BLIND_CHECKS * ACTIVE_INTERVAL;
    for (const { from, to } of [...this.troublesOf(parent)].sort((a, b) => a.from - b.from))
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

  private troublesOf({ troubles, incident, isOurs }: SimulatedParent): readonly Span[] {
    return [
      ...troubles,
      ...(incident === undefined ? [] : [incident]),
      ...(isOurs ? [] : this.weather.offline),
      ...this.clockTroubles,
    ];
  }

  private isTroubled(parent: SimulatedParent, from: number, to: number): boolean {
    return overlaps(this.troublesOf(parent), from, to);
  }

  private violate(kind: Violation, { name, kind: script, parent }: SimulatedDomain, now: number): void {
    const where = `${parent.servers.length} servers of ${printName(parent.zone)}`;
    this.violations.push({
      kind,
      text: `${kind}: ${printName(name)} (${script}, ${where}) on day ${(now / DAY).toFixed(2)}`,
    });
  }
}

/** What an address says for its zone; an answer is of a server that also holds the domain's. */
const SAID: ReadonlySet<string> = new Set(['referral', 'nodata', 'nxdomain', 'alias']);

function saysSame(a: ServerEvidence, b: ServerEvidence): boolean {
  return a.outcome === b.outcome && a.ns.length === b.ns.length && a.ns.every((name) => b.ns.includes(name));
}

function quorum({ servers }: SimulatedParent): number {
  return Math.min(2, servers.length);
}

/** At least two servers of the parent, or all, really show nothing of us. */
function isGone({ parent, history }: SimulatedDomain, now: number): boolean {
  const without = parent.servers.filter((_, s) => !namesOurs(shownBy(parent, s, history, now).ns));
  return without.length >= quorum(parent);
}

/** When the parent's primary last showed any of our servers. */
function lastShown({ history, parent: { incident } }: SimulatedDomain, at: number): number {
  for (const [i, { at: from, ns }] of [...history.entries()].reverse()) {
    if (from > at || !namesOurs(ns)) continue;
    const to = Math.min(history[i + 1]?.at ?? at, at);
    if (incident === undefined || !isWithinAny([incident], to)) return to;
    if (incident.from > from) return incident.from;
  }
  return Number.NEGATIVE_INFINITY;
}

function overlaps(spans: readonly Span[], from: number, to: number): boolean {
  return spans.some((span) => span.from <= to && span.to >= from);
}
