// People who act on a simulated name: registrants, some of them customers with the usual mistakes; sellers; and attackers
// who know everything public, and may use the API for their own claims.

import { isSameSet } from '../../../../src/checks/claims/name-claims.ts';
import type { NameserverSet } from '../../../../src/checks/delegation/check-state.ts';
import { pick } from '../../random/random-zones.ts';
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

/** Adds an attacker, or a seller who does not give up the name. */
export function addStranger(
  name: SimulatedName,
  accountId: number,
  from: number,
  acts: number,
  eagerness: number,
): void {
  const { random, store } = name;
  const act = (): void => {
    const { now } = name;
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
  };
  /** While the parent shows none of our nameservers, a claim starts without disadvantages. */
  const claimAnew = (): void => {
    const claim = store.find(accountId);
    if (claim?.status === 'active') return;
    if (claim !== undefined && random() < 0.5) store.remove(claim, name.now);
    act();
  };
  for (let i = 0; i < acts; i++) name.at(from + random() * (END - from), act);
  name.watchers.push((published) => {
    if (name.now < from || random() >= eagerness) return;
    const isAway = published.ns.every((ns) => !name.sets.ours.has(ns));
    name.at(name.now + pick(random, SOON), () => (isAway ? claimAnew() : act()));
  });
}

/** Adds a customer, from the order to the end of the registration or of the contract. */
function addCustomer(name: SimulatedName, newAccount: () => number, until: number) {
  const { random } = name;
  let accountId = newAccount();
  let isHeld = false;
  let isAway = false;
  let triedSince = Number.POSITIVE_INFINITY;
  let hasSlipped = random() < 0.85;
  let hadDs = random() < 0.92;

  function plan(): void {
    const { now } = name;
    const anytime = () => now + DAY + random() * (until - now - DAY);
    if (random() < 0.15) name.at(anytime(), moveAccount);
    if (random() < 0.15) name.at(anytime(), deleteDomain);
    if (random() < 0.25) {
      const at = anytime();
      name.at(at, goAway);
      name.at(at + DAY + random() * 60 * DAY, comeBack);
    }
  }

  function isCustomer(): boolean {
    return name.now < until;
  }

  function claimName(): boolean {
    const { store, now } = name;
    const claim = store.find(accountId);
    if (claim?.status === 'disabled') return store.enable(claim, now);
    if (claim !== undefined) return true;
    const first = store.create(accountId, now, {});
    const result = first === 'held' ? store.create(accountId, now, { transfer: true }) : first;
    return result === 'created';
  }

  function setNameservers(): void {
    if (!isCustomer() || isHeld || isAway) return;
    const claim = name.store.find(accountId);
    if (claim === undefined) return;
    const set = name.store.ownSet(claim);
    if (set === undefined) return; // according to the finding, only the operator can help
    if (!hasSlipped) {
      hasSlipped = true;
      name.publish(
        delegation(pick(random, [set.slice(1), [...set.slice(1), ...FOREIGN.slice(1)]])),
        accountId,
      );
      name.at(name.now + HOUR + random() * DAY, setNameservers);
      return;
    }
    const hasDs = !hadDs;
    hadDs = true;
    name.publish(delegation(set, hasDs), accountId);
    if (hasDs) name.at(name.now + HOUR + random() * 2 * DAY, setNameservers);
  }

  /** Customers check often at first and occasionally later, and follow the findings. */
  function look(times: number): void {
    if (!isCustomer()) return;
    if (isAway || isHeld) {
      name.at(name.now + DAY, () => look(times));
      return;
    }
    if (!claimName()) {
      triedSince = Math.min(triedSince, name.now);
      if (name.now - triedSince > SHUT_OUT_MS) name.shutOut(accountId);
      name.at(name.now + HOUR, () => look(LOOKS.length));
      return;
    }
    triedSince = Number.POSITIVE_INFINITY;
    name.at(name.now + (LOOKS[times] ?? 20 * DAY), () => look(times + 1));
    name.look(accountId);
    const claim = name.store.find(accountId);
    if (claim === undefined || claim.status === 'active') return;
    const { ns, meant } = name.registry.newest;
    if (meant !== accountId || !isSameSet(ns, name.store.ownSet(claim) ?? [])) setNameservers();
  }

  /** The registry removes the name from its zone, and restores it unchanged. */
  function hold(lasts: number): void {
    if (isHeld) return;
    const before = name.registry.newest;
    isHeld = true;
    name.publish(pick(random, [ABSENT, ABSENT, ELSEWHERE]), undefined);
    name.at(name.now + lasts, () => {
      isHeld = false;
      if (isCustomer()) name.publish(before, before.meant);
    });
  }

  function moveAccount(): void {
    if (!isCustomer() || isAway || isHeld) return;
    accountId = newAccount();
    claimName();
    name.at(name.now + 10 * MINUTE, setNameservers);
  }

  /** The delegation is left dangling. Most return. */
  function deleteDomain(): void {
    const claim = name.store.find(accountId);
    if (!isCustomer() || claim === undefined) return;
    name.store.remove(claim, name.now);
    isAway = true;
    if (random() < 0.7) name.at(name.now + random() ** 2 * 300 * DAY, comeBack);
  }

  function goAway(): void {
    if (!isCustomer() || isHeld) return;
    isAway = true;
    name.publish(ELSEWHERE, undefined);
  }

  function comeBack(): void {
    if (!isCustomer() || isHeld) return;
    isAway = false;
    claimName();
    name.at(name.now + HOUR, setNameservers);
  }

  const { now, sets } = name;
  if (random() < 0.2) {
    // Sets the nameservers first: the account's own, or the public ones.
    const set = sets.isPool ? sets.accountSet(accountId).names : pick(random, sets.staticSets);
    name.publish(delegation(set), accountId);
    name.at(now + HOUR + random() * 5 * DAY, () => look(0));
  } else {
    claimName();
    name.at(now + 2 * MINUTE + random() * random() * 6 * HOUR, setNameservers);
    name.at(now + 8 * HOUR, () => look(0));
  }
  plan();
  return { accountId: () => accountId, hold };
}

type Customer = ReturnType<typeof addCustomer>;

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
    const customer = kind < 0.65 ? addCustomer(name, newAccount, until) : undefined;
    if (kind >= 0.65 && kind < 0.8)
      name.at(from + random() * 2 * DAY, () => name.publish(ELSEWHERE, undefined));
    // The others do not change the delegation.
    const lapses = Math.floor(random() * 4);
    for (let i = 0; i < lapses; i++)
      name.at(from + random() * (until - from), () => lapse(name, customer, until));
    name.at(until, () => end(customer));
  };
  const end = (customer: Customer | undefined): void => {
    if (customer !== undefined && random() < 0.6) addStranger(name, customer.accountId(), name.now, 6, 0.4);
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
