// Four hundred days of one domain: its owner's goals, its registrar, its parent, our nodes, workers, clock and backups, and
// the key machine between them. What happened is written into a history, which the machine never sees.

import type { Advanced, Facts } from '../../../../src/checks/dnssec/advance.ts';
import { written } from '../../../../src/checks/dnssec/advance.ts';
import { nextDsAt } from '../../../../src/checks/dnssec/ds-cadence.ts';
import { type DsAnswer, type DsEvidence, dsText } from '../../../../src/checks/dnssec/ds-evidence.ts';
import { abort, disable, enable, needsKeys, newMachine, roll } from '../../../../src/checks/dnssec/goals.ts';
import { keyOf, type Machine, type Preflight, wantedIds } from '../../../../src/checks/dnssec/machine.ts';
import type { MachineKey } from '../../../../src/checks/dnssec/machine-key.ts';
import type { Delegation, Step } from '../../../../src/checks/dnssec/next-keys.ts';
import type { NodePosition } from '../../../../src/checks/dnssec/node-positions.ts';
import { shownNow } from '../../../../src/checks/dnssec/parent-memory.ts';
import type { MachineRules } from '../../../../src/checks/dnssec/rules.ts';
import { isSameSet, type Serving, UNSIGNED } from '../../../../src/checks/dnssec/serving.ts';
import { parseName } from '../../../../src/dns/name.ts';
import { EventQueue } from '../hijack/event-queue.ts';
import { KeyHistory } from './key-history.ts';
import { dsRdata, madeKey } from './made-keys.ts';
import { SimulatedRegistrar, type Told } from './simulated-registrar.ts';
import {
  CALM,
  DAY,
  DAYS,
  drawSurroundings,
  endOf,
  HOUR,
  isWithin,
  MINUTE,
  pick,
  type Random,
  randomFrom,
  type SimulatedNode,
  type Surroundings,
  valueAt,
} from './simulated-surroundings.ts';

export interface MachineUnderTest {
  readonly rules: MachineRules;
  readonly advance: (machine: Machine, facts: Facts, rules: MachineRules) => Advanced;
}

export const END = DAYS * DAY;
const DOMAIN = parseName('example.org.');
const PARENT = parseName('org.');

type Goal =
  | 'enable'
  | 'disable'
  | 'disable now'
  | 'roll'
  | 'roll ZSK'
  | 'algorithm'
  | 'compromised'
  | 'abort';

/** What Postgres holds. */
interface Stored {
  readonly machine: Machine;
  readonly version: number;
  readonly serving: Serving;
}

interface Node {
  readonly simulated: SimulatedNode;
  epoch: number;
  version: number;
  serving: Serving;
  since: number;
  /** It was lost, and has not loaded the zone since. */
  isDown: boolean;
}

export class SimulatedSignedDomain {
  readonly around: Surroundings;
  readonly history = new KeyHistory();
  ticks = 0;
  steps = 0;
  readonly #random: Random;
  readonly #tested: MachineUnderTest;
  readonly #rules: MachineRules;
  readonly #events = new EventQueue();
  readonly #registrar: SimulatedRegistrar;
  readonly #nodes: readonly Node[];
  #stored: Stored;
  #backups: { at: number; stored: Stored }[] = [];
  #epoch = 0;
  #now = 0;
  #made = 0;
  #tickAt = 0;
  #dsAt = 0;
  /** Counts writes, so that one that a restore undoes is not ended. */
  #write = 0;
  #delegatedAt = 0;

  constructor(seed: number, tested: MachineUnderTest) {
    this.#random = randomFrom(seed);
    this.around = drawSurroundings(this.#random);
    this.#tested = tested;
    this.#rules = {
      ...tested.rules,
      backupAfterMs: Math.min(tested.rules.backupAfterMs, this.around.backupAfterMs),
    };
    this.#stored = { machine: newMachine(0, this.#dataTtl(0)), version: 0, serving: UNSIGNED };
    this.#nodes = this.around.nodes.map((simulated) => ({
      simulated,
      epoch: 0,
      version: 0,
      serving: UNSIGNED,
      since: 0,
      isDown: false,
    }));
    this.#registrar = new SimulatedRegistrar(
      this.around.registrar,
      this.#random,
      this.#events,
      () => this.#told(),
      (ds, at) => this.#enter(ds, at),
    );
    this.#plan();
  }

  get machine(): Machine {
    return this.#stored.machine;
  }

  get shown(): readonly string[] {
    return this.#registrar.ds;
  }

  run(): void {
    for (
      let event = this.#events.take();
      event !== undefined && event.at < END;
      event = this.#events.take()
    ) {
      this.#now = event.at;
      event.run();
    }
    this.#now = END;
    for (const node of this.#nodes) this.#note(node);
  }

  #plan(): void {
    const random = this.#random;
    const between = (from: number, to: number) => from + random() * (to - from);
    this.#events.add(between(0, 10 * DAY), () => this.#want('enable'));
    for (const at of this.around.goals) this.#events.add(at, () => this.#want(this.#drawGoal()));
    const last = random() < 0.7 ? 'enable' : 'disable';
    this.#events.add(CALM - 10 * DAY, () => this.#want(last));
    for (const at of this.around.restores) this.#events.add(at, () => this.#restore());
    for (const node of this.#nodes) {
      for (const { from, to } of node.simulated.lost) {
        this.#events.add(from, () => {
          this.#note(node);
          node.isDown = true;
        });
        this.#events.add(to, () => this.#load(node));
      }
      for (const { to } of [...node.simulated.cutOff, ...node.simulated.full])
        this.#events.add(to + MINUTE, () => this.#load(node));
      const { broken } = node.simulated;
      if (broken !== undefined) this.#events.add(broken.to, () => this.#note(node));
    }
    this.#tickFrom(1);
  }

  #drawGoal(): Goal {
    const goals: readonly Goal[] = ['enable', 'disable', 'roll', 'roll', 'algorithm', 'abort', 'abort'];
    const hasty: readonly Goal[] = ['compromised', 'disable now'];
    const split: readonly Goal[] = ['roll ZSK', 'roll ZSK'];
    return pick(this.#random, [
      ...goals,
      ...(this.around.isHasty ? hasty : []),
      ...(this.around.isSplit ? split : []),
    ]);
  }

  #want(goal: Goal): void {
    const { machine } = this.#stored;
    const isHasty = goal === 'compromised' || goal === 'disable now';
    const changed = this.#changed(machine, goal);
    if (typeof changed === 'string' || changed === machine) return;
    if (isHasty) this.history.hasty.push(this.#now);
    this.#store({ ...this.#stored, machine: changed });
    this.#tickFrom(MINUTE);
  }

  #changed(machine: Machine, goal: Goal): Machine | string {
    const { wanted } = machine;
    const algorithm = wanted === null ? 13 : keyOf(machine, wanted.sep).algorithm;
    switch (goal) {
      case 'enable':
        return enable(machine, needsKeys(machine) ? this.#makeKeys(13) : []);
      case 'disable':
      case 'disable now':
        return disable(machine, goal === 'disable now');
      case 'roll':
      case 'compromised':
        return roll(machine, this.#makeKeys(algorithm), goal === 'compromised');
      case 'roll ZSK':
        return roll(machine, this.#makeKeys(algorithm).slice(1), false);
      case 'algorithm':
        return roll(machine, this.#makeKeys(algorithm === 13 ? 15 : 13), false);
      case 'abort':
        return abort(machine);
      default:
        return goal satisfies never;
    }
  }

  #makeKeys(algorithm: number): MachineKey[] {
    const roles = this.around.isSplit ? (['ksk', 'zsk'] as const) : (['csk'] as const);
    const keys = roles.map((role) => madeKey(`${role}${++this.#made}`, role, algorithm));
    for (const key of keys) this.history.keys.set(key.id, key);
    return keys;
  }

  /** What the API says at this moment. */
  #told(): Told {
    const { machine } = this.#stored;
    const texts = (id: string) => keyOf(machine, id).ds;
    return {
      add: machine.asked.map(texts),
      isCertain: machine.asked.length > 0 || machine.goal === 'unsigned',
      guessed: this.#stored.serving.keySigners.map(texts),
    };
  }

  #enter(ds: readonly string[], at: number): void {
    const before = this.history.entered.at(-1)?.shownFrom;
    const shownFrom = this.around.addresses.map(({ lag }, i) =>
      Math.max(at + this.#random() * lag, before?.[i] ?? 0),
    );
    this.history.entered.push({ at, ds, shownFrom });
  }

  // the machine

  #tickFrom(after: number): void {
    const at = this.#now + after;
    this.#tickAt = at;
    this.#events.add(at, () => {
      if (this.#tickAt === at) this.#tick();
    });
  }

  #tick(): void {
    const down = endOf(this.around.workersDown, this.#now);
    if (down !== undefined) {
      this.#tickFrom(down - this.#now + MINUTE);
      return;
    }
    this.ticks++;
    const { machine } = this.#stored;
    const facts = this.#facts(machine);
    const { machine: next, step } = this.#tested.advance(machine, facts, this.#rules);
    this.#store({ ...this.#stored, machine: next });
    if (step !== undefined) this.#begin(step);
    const dsAt = nextDsAt(next, facts.at);
    this.#dsAt = dsAt === undefined ? Number.POSITIVE_INFINITY : this.#now + (dsAt - facts.at);
    this.#tickFrom(this.#pause(next, facts.at));
  }

  #pause({ waiting }: Machine, at: number): number {
    const usual = Math.max(MINUTE, Math.min(this.#dsAt - this.#now, 12 * HOUR));
    if (waiting === null) return usual;
    switch (waiting.cause) {
      case 'writing':
      case 'nodes':
        return at - waiting.since < 2 * HOUR ? 20 * MINUTE : 6 * HOUR;
      case 'preflight':
        return Math.min(usual, 3 * HOUR);
      case 'caches':
        if (at - waiting.since < HOUR) return 25 * MINUTE;
        return Math.max(MINUTE, Math.min(usual, (waiting.until ?? Number.POSITIVE_INFINITY) - at + 1));
      default:
        return Math.max(MINUTE, Math.min(usual, (waiting.until ?? Number.POSITIVE_INFINITY) - at + 1));
    }
  }

  #facts(machine: Machine): Facts {
    const at = this.#clock(this.#now);
    const isDue = this.#now >= this.#dsAt;
    const ds = isDue || this.#delegationShowsChange(machine) ? { ds: this.#observe(at) } : {};
    const { preflight, serving, servedAt, waiting } = machine;
    const isUntried = servedAt !== null && (preflight === null || preflight.at < servedAt);
    const wantsPreflight = serving.keys.length > 0 && (waiting?.cause === 'preflight' || isUntried);
    return {
      at,
      epoch: String(this.#epoch),
      nodes: this.#nodes.map((node, i) => this.#position(node, i)),
      dataTtl: this.#dataTtlSince(this.#stored.machine.clock),
      delegation: this.#delegation(),
      ...ds,
      ...(wantsPreflight ? { preflight: this.#preflight(at) } : {}),
    };
  }

  /** The delegation check asks twice a day, a few addresses. */
  #delegationShowsChange(machine: Machine): boolean {
    if (this.#now - this.#delegatedAt < 12 * HOUR) return false;
    this.#delegatedAt = this.#now;
    const referred = this.around.addresses
      .flatMap((address, i) => (address.isHidden || isWithin(address.silent, this.#now) ? [] : [i]))
      .slice(0, 6)
      .map((i) => this.#shownAt(i).map(dsRdata));
    return isDsChanged(machine, referred, this.#rules);
  }

  #clock(at: number): number {
    return at + valueAt(this.around.clock, at).offset;
  }

  #dataTtl(at: number): number {
    return valueAt(this.around.dataTtls, at).ttl;
  }

  #dataTtlSince(clock: number): number {
    const since = this.around.dataTtls.filter(({ at }) => at > clock - 4 * HOUR && at <= this.#now);
    return Math.max(
      this.#dataTtl(clock - 4 * HOUR),
      this.#dataTtl(this.#now),
      ...since.map(({ ttl }) => ttl),
    );
  }

  #delegation(): Delegation {
    const checkedAt = this.#now - (this.#now % (12 * HOUR));
    if (isWithin(this.around.elsewhere, checkedAt)) return { kind: 'not_ours' };
    const past = this.around.elsewhere.filter(({ to }) => to <= checkedAt);
    const backAt = Math.max(0, ...past.map(({ to }) => to));
    const since = backAt === 0 ? 0 : Math.ceil(backAt / (12 * HOUR)) * 12 * HOUR;
    return { kind: 'ours', since, ttl: this.around.nsTtl, isFirst: past.length === 0 };
  }

  #shownAt(address: number): readonly string[] {
    const { entered } = this.history;
    return entered.findLast(({ shownFrom }) => (shownFrom[address] as number) <= this.#now)?.ds ?? [];
  }

  #observe(at: number): DsEvidence {
    const answers = this.around.addresses.flatMap((address, i): DsAnswer[] => {
      if (address.isHidden) return [];
      const isSilent = isWithin(address.silent, this.#now);
      const ds = isSilent || isWithin(address.lying, this.#now) ? [] : this.#shownAt(i);
      return [
        {
          server: PARENT,
          address: String(i),
          outcome: isSilent ? 'unknown' : ds.length === 0 ? 'none' : 'positive',
          ds: ds.map(dsRdata),
          ttl: isSilent ? undefined : this.around.dsTtl,
          error: undefined,
        },
      ];
    });
    return { domain: DOMAIN, parent: PARENT, answers, parentIsSecure: true, observedAt: at };
  }

  #preflight(at: number): Preflight {
    if (isWithin(this.around.elsewhere, this.#now))
      return { at, verifiedBy: [], hasStrangers: false, failure: 'servers of others' };
    const answering = this.#nodes.filter(({ isDown }) => !isDown);
    const { keys } = this.#stored.machine;
    const seen = answering.map((node) => this.#truth(node));
    const verifiedBy = seen
      .map(({ keySigners, dataSigners }) => (dataSigners.some((id) => id !== BROKEN) ? keySigners : []))
      .reduce((a, b) => a.filter((id) => b.includes(id)), seen[0]?.keySigners ?? []);
    const hasStrangers = seen.some((node) => node.keys.some((id) => !keys.some((key) => key.id === id)));
    const failure = verifiedBy.length === 0 ? { failure: 'does not verify' } : {};
    return { at, verifiedBy, hasStrangers, ...failure };
  }

  // what Postgres holds, and the nodes

  #store(stored: Stored): void {
    this.#stored = stored;
    this.history.disclose(this.#now, stored.machine.asked);
    const oldest = this.#now - 26 * HOUR;
    while ((this.#backups[1]?.at ?? Number.POSITIVE_INFINITY) < oldest) this.#backups.shift();
    this.#backups.push({ at: this.#now, stored });
  }

  #begin(step: Step): void {
    this.steps++;
    // a restore matters most when it takes back a step
    const isRestored = !this.around.isHasty && this.#now < CALM - 15 * DAY && this.#random() < 0.08;
    if (isRestored) this.#events.add(this.#now + this.#random() * 36 * HOUR, () => this.#restore());
    const isLong = !isSameSet(step.serving.dataSigners, this.#stored.serving.dataSigners);
    this.#writeUntil(this.#now + this.#random() * (isLong ? 6 * HOUR : MINUTE), step.serving);
  }

  #writeUntil(planned: number, serving: Serving): void {
    const write = ++this.#write;
    const down = endOf(this.around.workersDown, planned);
    const at = down === undefined ? planned : down + MINUTE;
    const before = this.#stored.serving;
    const from = this.#now;
    this.#events.add(at, () => {
      if (before.keys.length > 0 && serving.keys.length > 0) this.#mix(before, serving, from);
      if (write !== this.#write) return;
      const version = this.#stored.version + 1;
      const machine = written(this.#stored.machine, version);
      this.#store({ machine, version, serving });
      for (const node of this.#nodes) this.#loadSoon(node);
      this.#tickFrom(MINUTE);
    });
  }

  /** While new signatures are written piece by piece, some sets have them and others have the old ones. */
  #mix(before: Serving, after: Serving, from: number): void {
    this.history.serve({ ...before, dataSigners: after.dataSigners }, from, this.#now);
  }

  /** At most as old as backups are. Writes under way go on in the restored database. */
  #restore(): void {
    const oldest = this.#now - this.around.backupAfterMs * this.#random();
    const backup = this.#backups.findLast(({ at }) => at <= oldest) ?? this.#backups[0];
    if (backup === undefined) return;
    this.#epoch++;
    this.#write++;
    this.#backups = [];
    this.#store(backup.stored);
    for (const node of this.#nodes) this.#loadSoon(node);
    const { machine } = backup.stored;
    if (machine.version === null) this.#writeUntil(this.#now + HOUR, machine.serving);
    this.#tickFrom(MINUTE);
  }

  #loadSoon(node: Node): void {
    const { lag } = node.simulated;
    this.#events.add(this.#now + this.#random() * lag, () => this.#load(node));
  }

  #load(node: Node): void {
    const { cutOff, lost, full } = node.simulated;
    if (isWithin([...cutOff, ...lost, ...full], this.#now)) return;
    const { version, serving } = this.#stored;
    if (!node.isDown && node.epoch === this.#epoch && node.version === version) return;
    this.#note(node);
    node.isDown = false;
    node.epoch = this.#epoch;
    node.version = version;
    node.serving = serving;
  }

  /** Writes what it served until now into the history. */
  #note(node: Node): void {
    if (!node.isDown) this.history.serve(this.#truth(node), node.since, this.#now);
    node.since = this.#now;
  }

  #truth({ serving, simulated: { broken } }: Node): Serving {
    const isBroken = broken !== undefined && this.#now <= broken.to && serving.keys.length > 0;
    return isBroken ? { ...serving, dataSigners: [BROKEN] } : serving;
  }

  #position(node: Node, index: number): NodePosition {
    const { cutOff, lost, full, forgottenAt } = node.simulated;
    const silent = [...cutOff, ...lost].filter(({ from, to }) => this.#now >= from && this.#now < to);
    const heard = Math.min(this.#now, ...silent.map(({ from }) => from));
    const isFull = isWithin(full, this.#now);
    return {
      id: String(index),
      version: node.epoch === this.#epoch && !isFull && !node.isDown ? node.version : null,
      heardAt: this.#clock(heard),
      isGone: this.#now >= forgottenAt,
    };
  }

  /** Whether the goal is reached, as it must be at the end. */
  get isReached(): boolean {
    const { machine, serving } = this.#stored;
    if (machine.goal === 'unsigned') return serving.keys.length === 0 && machine.waiting === null;
    const isServed = isSameSet(serving.keys, wantedIds(machine));
    return isServed && isSameSet(machine.asked, [machine.wanted?.sep ?? '']) && machine.waiting === null;
  }
}

const BROKEN = 'broken';

/** Whether a delegation check saw other DS than the last observation. `referred`: the rdata in each referral. */
function isDsChanged(
  { parent }: Pick<Machine, 'parent'>,
  referred: readonly (readonly Uint8Array[])[],
  rules: Pick<MachineRules, 'silentAddressMs'>,
): boolean {
  const known = shownNow(parent, rules);
  return referred.some((ds) => {
    const texts = ds.map(dsText).sort();
    return known.length === 0 ? texts.length > 0 : known.some((each) => !isSameSet(each.ds, texts));
  });
}
