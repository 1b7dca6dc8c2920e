// People who act on a simulated name: registrants, some of them customers with the usual mistakes; sellers; and attackers
// who know everything public, and may use the API for their own claims.

import { isSameSet } from '../../../../src/checks/claims/name-claims.ts';
import type { NameserverSet } from '../../../../src/checks/delegation/check-state.ts';
import { pick, type Random } from '../../random/random-zones.ts';
import { names } from '../../world/check-evidence.ts';
import { ABSENT, type Shown } from '../parent-evidence.ts';
import { DAY, HOUR, MINUTE } from '../virtual-time.ts';
import type { SimulatedName } from './simulated-name.ts';
import { END } from './simulated-registry.ts';

const FOREIGN = names('ns1.x ns2.x');
export const ELSEWHERE: Shown = { kind: 'delegation', ns: FOREIGN, hasDs: false };

export const delegation = (ns: NameserverSet, hasDs = false): Shown => ({ kind: 'delegation', ns, hasDs });

/** Soon after something became visible, or an hour later. */
const SOON = [1000, 20_000, 45_000, 2 * MINUTE, HOUR] as const;

/** An attacker, or a seller who does not give up the name. */
export class Stranger {
  private readonly name: SimulatedName;
  private readonly accountId: number;
  private readonly random: Random;
  private readonly eagerness: number;

  constructor(name: SimulatedName, accountId: number, from: number, acts: number, eagerness: number) {
    this.name = name;
    this.accountId = accountId;
    this.random = name.random;
    this.eagerness = eagerness;
    for (let i = 0; i < acts; i++) name.at(from + this.random() * (END - from), () => this.act());
    name.watchers.push((published) => {
      if (name.now < from || this.random() >= this.eagerness) return;
      const isAway = published.ns.every((ns) => !name.sets.ours.has(ns));
      name.at(name.now + pick(this.random, SOON), () => (isAway ? this.claimAnew() : this.act()));
    });
  }

  /** While the parent shows none of our nameservers, a claim starts without disadvantages. */
  private claimAnew(): void {
    const { store } = this.name;
    const claim = store.find(this.accountId);
    if (claim?.status === 'active') return;
    if (claim !== undefined && this.random() < 0.5) store.remove(claim, this.name.now);
    this.act();
  }

  private act(): void {
    const { name, random, accountId } = this;
    const { store, now } = name;
    const claim = store.find(accountId);
    const dice = random();
    if (claim === undefined) store.create(accountId, now, { transfer: dice < 0.8, external: dice > 0.9 });
    else if (claim.status === 'disabled') {
      if (dice < 0.7) store.enable(claim, now);
      else store.remove(claim, now);
    } else if (claim.status === 'active' || claim.status === 'moved') {
      if (dice < 0.1) store.remove(claim, now);
    } else if (dice < 0.4) store.askCheck(claim, now);
    else if (dice < 0.6) store.switchMode(claim, now);
    else {
      store.remove(claim, now);
      if (dice < 0.9) store.create(accountId, now, { transfer: true });
    }
  }
}

/** A customer, from the order to the end of the registration or of the contract. */
class Customer {
  private accountId: number;
  private readonly name: SimulatedName;
  private readonly random: Random;
  private readonly until: number;
  private readonly newAccount: () => number;
  private isHeld = false;
  private isAway = false;
  private triedSince = Number.POSITIVE_INFINITY;
  private hasSlipped: boolean;
  private hadDs: boolean;

  constructor(name: SimulatedName, newAccount: () => number, until: number) {
    this.name = name;
    this.random = name.random;
    this.newAccount = newAccount;
    this.until = until;
    this.accountId = newAccount();
    this.hasSlipped = this.random() < 0.85;
    this.hadDs = this.random() < 0.92;
  }

  begin(): void {
    const { name, random } = this;
    const { now, sets } = name;
    if (random() < 0.2) {
      // Sets the nameservers first: the account's own, or the public ones.
      const set = sets.isPool ? sets.accountSet(this.accountId).names : pick(random, sets.staticSets);
      name.publish(delegation(set), this.accountId);
      name.at(now + HOUR + random() * 5 * DAY, () => this.look(0));
    } else {
      this.claim();
      name.at(now + 2 * MINUTE + random() * random() * 6 * HOUR, () => this.setNameservers());
      name.at(now + 8 * HOUR, () => this.look(0));
    }
    this.plan();
  }

  get account(): number {
    return this.accountId;
  }

  private plan(): void {
    const { name, random, until } = this;
    const { now } = name;
    const anytime = () => now + DAY + random() * (until - now - DAY);
    if (random() < 0.15) name.at(anytime(), () => this.moveAccount());
    if (random() < 0.15) name.at(anytime(), () => this.deleteDomain());
    if (random() < 0.25) {
      const at = anytime();
      name.at(at, () => this.goAway());
      name.at(at + DAY + random() * 60 * DAY, () => this.comeBack());
    }
  }

  private isCustomer(): boolean {
    return this.name.now < this.until;
  }

  private claim(): boolean {
    const { name, accountId } = this;
    const { store, now } = name;
    const claim = store.find(accountId);
    if (claim?.status === 'disabled') return store.enable(claim, now);
    if (claim !== undefined) return true;
    const first = store.create(accountId, now, {});
    const result = first === 'held' ? store.create(accountId, now, { transfer: true }) : first;
    return result === 'created';
  }

  private setNameservers(): void {
    const { name, accountId, random } = this;
    if (!this.isCustomer() || this.isHeld || this.isAway) return;
    const claim = name.store.find(accountId);
    if (claim === undefined) return;
    const set = name.store.ownSet(claim);
    if (set === undefined) return; // according to the finding, only the operator can help
    if (!this.hasSlipped) {
      this.hasSlipped = true;
      name.publish(
        delegation(pick(random, [set.slice(1), [...set.slice(1), ...FOREIGN.slice(1)]])),
        accountId,
      );
      name.at(name.now + HOUR + random() * DAY, () => this.setNameservers());
      return;
    }
    const hasDs = !this.hadDs;
    this.hadDs = true;
    name.publish(delegation(set, hasDs), accountId);
    if (hasDs) name.at(name.now + HOUR + random() * 2 * DAY, () => this.setNameservers());
  }

  /** Customers check often at first and occasionally later, and follow the findings. */
  private look(times: number): void {
    const { name, accountId } = this;
    if (!this.isCustomer()) return;
    if (this.isAway || this.isHeld) {
      name.at(name.now + DAY, () => this.look(times));
      return;
    }
    if (!this.claim()) {
      this.triedSince = Math.min(this.triedSince, name.now);
      if (name.now - this.triedSince > SHUT_OUT_MS) name.shutOut(accountId);
      name.at(name.now + HOUR, () => this.look(LOOKS.length));
      return;
    }
    this.triedSince = Number.POSITIVE_INFINITY;
    name.at(name.now + (LOOKS[times] ?? 20 * DAY), () => this.look(times + 1));
    name.look(accountId);
    const claim = name.store.find(accountId);
    if (claim === undefined || claim.status === 'active') return;
    const { ns, meant } = name.registry.newest;
    if (meant !== accountId || !isSameSet(ns, name.store.ownSet(claim) ?? [])) this.setNameservers();
  }

  /** The registry removes the name from its zone, and restores it unchanged. */
  hold(lasts: number): void {
    const { name } = this;
    if (this.isHeld) return;
    const before = name.registry.newest;
    this.isHeld = true;
    name.publish(pick(this.random, [ABSENT, ABSENT, ELSEWHERE]), undefined);
    name.at(name.now + lasts, () => {
      this.isHeld = false;
      if (this.isCustomer()) name.publish(before, before.meant);
    });
  }

  private moveAccount(): void {
    if (!this.isCustomer() || this.isAway || this.isHeld) return;
    this.accountId = this.newAccount();
    this.claim();
    this.name.at(this.name.now + 10 * MINUTE, () => this.setNameservers());
  }

  /** The delegation is left dangling. Most return. */
  private deleteDomain(): void {
    const { name } = this;
    const claim = name.store.find(this.accountId);
    if (!this.isCustomer() || claim === undefined) return;
    name.store.remove(claim, name.now);
    this.isAway = true;
    if (this.random() < 0.7) name.at(name.now + this.random() ** 2 * 300 * DAY, () => this.comeBack());
  }

  private goAway(): void {
    if (!this.isCustomer() || this.isHeld) return;
    this.isAway = true;
    this.name.publish(ELSEWHERE, undefined);
  }

  private comeBack(): void {
    if (!this.isCustomer() || this.isHeld) return;
    this.isAway = false;
    this.claim();
    this.name.at(this.name.now + HOUR, () => this.setNameservers());
  }
}

/** A slot is free after a day. */
const SHUT_OUT_MS = 2 * DAY;
const LOOKS = [10 * MINUTE, HOUR, 5 * HOUR, DAY, 3 * DAY, 7 * DAY] as const;

/** Registrants, one after the other, for a thousand days. */
export function livesOf(name: SimulatedName, newAccount: () => number): void {
  const { random } = name;
  const nextRegistrant = (): void => {
    const from = name.now;
    const until = from + 30 * DAY + random() * random() * 900 * DAY;
    const kind = random();
    let customer: Customer | undefined;
    if (kind < 0.65) {
      customer = new Customer(name, newAccount, until);
      customer.begin();
    } else if (kind < 0.8) name.at(from + random() * 2 * DAY, () => name.publish(ELSEWHERE, undefined));
    // The others do not change the delegation.
    const lapses = Math.floor(random() * 4);
    for (let i = 0; i < lapses; i++)
      name.at(from + random() * (until - from), () => lapse(name, customer, until));
    name.at(until, () => end(customer));
  };
  const end = (customer: Customer | undefined): void => {
    if (customer !== undefined && random() < 0.6) new Stranger(name, customer.account, name.now, 6, 0.4);
    if (random() < 0.4) {
      name.publish(ABSENT, undefined);
      const registered = name.now + HOUR + random() * 80 * DAY;
      name.at(registered, () => {
        if (random() < 0.3) name.publish(ELSEWHERE, undefined);
        nextRegistrant();
      });
    } else {
      // Sold: the seller's delegation stays for a while, or permanently.
      name.publish(name.registry.newest, undefined);
      nextRegistrant();
    }
  };
  name.at(random() * 30 * DAY, nextRegistrant);
}

function lapse(name: SimulatedName, customer: Customer | undefined, until: number): void {
  const { random } = name;
  const lasts = pick(random, [5 * MINUTE, 5 * MINUTE, 3 * HOUR, 10 * DAY * random(), 60 * DAY * random()]);
  if (customer !== undefined) {
    customer.hold(lasts);
    return;
  }
  const before = name.registry.newest;
  name.publish(ABSENT, undefined);
  name.at(name.now + lasts, () => {
    if (name.now < until) name.publish(before, before.meant);
  });
}
