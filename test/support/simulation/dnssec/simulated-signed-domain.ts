// Four hundred days of one domain: its owner's goals, its registrar, its parent, our nodes, workers, clock and backups, and
// the key machine. All events are recorded in a history that the machine never sees.

import type { Advanced, Facts } from '../../../../src/checks/dnssec/advance.ts';
import { written } from '../../../../src/checks/dnssec/advance.ts';
import { dsFields } from '../../../../src/checks/dnssec/ds-evidence.ts';
import { abort, disable, enable, needsKeys, newMachine, roll } from '../../../../src/checks/dnssec/goals.ts';
import { keyOf, type Machine, wantedIds } from '../../../../src/checks/dnssec/machine.ts';
import type { KeyRole, MachineKey } from '../../../../src/checks/dnssec/machine-key.ts';
import { isDsDue, isPreflightDue, nextLookIn } from '../../../../src/checks/dnssec/next-look.ts';
import type { MachineRules } from '../../../../src/checks/dnssec/rules.ts';
import { isSameSet, type Serving, UNSIGNED } from '../../../../src/checks/dnssec/serving.ts';
import type { Step } from '../../../../src/checks/dnssec/step.ts';
import { asTold } from '../../../../src/checks/dnssec/told/as-told.ts';
import { pick, type Random, randomFrom } from '../../random/random-zones.ts';
import { DAY, EventQueue, HOUR, isWithin, MINUTE } from '../virtual-time.ts';
import { KeyHistory } from './key-history.ts';
import { madeKey } from './made-keys.ts';
import { type Cds, NO_CDS, simulateNodes, type ZoneContent } from './simulated-nodes.ts';
import { simulateParent } from './simulated-parent.ts';
import { addRegistrar, type Told } from './simulated-registrar.ts';
import { CALM, DAYS, drawSurroundings, endOf, type Surroundings, valueAt } from './simulated-surroundings.ts';

export interface MachineUnderTest {
  readonly rules: MachineRules;
  readonly advance: (machine: Machine, facts: Facts, rules: MachineRules) => Advanced;
}

type Goal =
  | 'enable'
  | 'disable'
  | 'disable now'
  | 'roll'
  | 'roll KSK'
  | 'roll ZSK'
  | 'algorithm'
  | 'compromised'
  | 'abort';

/** Acts of owner, registrar and operator in a story. */
export interface Actor {
  readonly now: number;
  readonly machine: Machine;
  /** Keys whose DS the API requests. */
  readonly told: readonly string[];
  want(goal: Goal): void;
  /** The registrar has only the DS of these keys. `lags`: the delay until each address shows it. */
  enter(keys: readonly string[], lags?: readonly number[], digestType?: number): void;
  /** Keys whose DS the CDS set of a node requests. */
  readCds(node: number): readonly string[];
  /** The newest backup that is at least this old. */
  restore(age: number): void;
}

/** One scenario, chosen for a rule that random ones rarely reach. */
export interface Story {
  readonly name: string;
  readonly days: number;
  readonly around: Surroundings;
  /** Continues after a time, or once the machine is in this state. */
  readonly play: (actor: Actor) => Generator<number | ((machine: Machine) => boolean)>;
}

interface Stored {
  readonly machine: Machine;
  readonly version: number;
  readonly serving: Serving;
  readonly cds: Cds;
}

export class SimulatedSignedDomain implements Actor {
  readonly around: Surroundings;
  readonly history = new KeyHistory();
  readonly end: number;
  readonly #random: Random;
  readonly #tested: MachineUnderTest;
  readonly #rules: MachineRules;
  readonly #events = new EventQueue();
  readonly #parent: ReturnType<typeof simulateParent>;
  readonly #nodes: ReturnType<typeof simulateNodes>;
  #stored: Stored;
  #backups: { at: number; stored: Stored }[] = [];
  #epoch = 0;
  #now = 0;
  #made = 0;
  #tickAt = 0;
  /** Counts writes, so that a write that a restore has undone is not completed. */
  #write = 0;
  #goesOn: ((machine: Machine) => boolean) | undefined;
  #story: ReturnType<Story['play']> | undefined;

  constructor(seed: number, tested: MachineUnderTest, story?: Story) {
    this.#random = randomFrom(seed);
    this.around = story?.around ?? drawSurroundings(this.#random);
    this.end = (story?.days ?? DAYS) * DAY;
    this.#tested = tested;
    this.#rules = {
      ...tested.rules,
      backupAfterMs: Math.min(tested.rules.backupAfterMs, this.around.backupAfterMs),
    };
    const machine = newMachine(0, this.#dataTtl(0));
    this.#stored = { machine, version: 0, serving: UNSIGNED, cds: NO_CDS };
    this.#parent = simulateParent(this.around, this.history, this.#random);
    this.#nodes = simulateNodes(this.around.nodes, {
      random: this.#random,
      events: this.#events,
      history: this.history,
      nowMs: () => this.#now,
      stored: () => this.#content(),
    });
    addRegistrar(
      this.around.registrar,
      this.#random,
      this.#events,
      () => this.#told(),
      (ds, at) => this.#parent.enter(ds, at),
    );
    this.#tickFrom(1);
    if (story === undefined) this.#plan();
    else {
      this.#story = story.play(this);
      this.#events.add(HOUR, () => this.#playOn());
    }
  }

  get machine(): Machine {
    return this.#stored.machine;
  }

  get now(): number {
    return this.#now;
  }

  get told(): readonly string[] {
    return asTold(this.#stored.machine, String(this.#epoch), this.#rules).asked;
  }

  run(): void {
    for (
      let event = this.#events.take();
      event !== undefined && event.at < this.end;
      event = this.#events.take()
    ) {
      this.#now = event.at;
      event.item();
    }
    this.#now = this.end;
    this.#nodes.end();
  }

  #plan(): void {
    const random = this.#random;
    const between = (from: number, to: number) => from + random() * (to - from);
    this.#events.add(between(0, 10 * DAY), () => this.want('enable'));
    for (const at of this.around.goals) this.#events.add(at, () => this.want(this.#drawGoal()));
    const last = random() < 0.7 ? 'enable' : 'disable';
    this.#events.add(CALM - 10 * DAY, () => this.want(last));
    for (const at of this.around.restores)
      this.#events.add(at, () => this.restore(this.around.backupAfterMs * random()));
    for (const at of this.around.edits) this.#events.add(at, () => this.#edit());
  }

  #playOn(): void {
    const next = this.#story?.next();
    if (next === undefined || next.done === true) return;
    const until = next.value;
    if (typeof until === 'number') this.#events.add(this.#now + until, () => this.#playOn());
    else this.#goesOn = until;
  }

  #drawGoal(): Goal {
    const goals: readonly Goal[] = ['enable', 'disable', 'roll', 'roll', 'algorithm', 'abort', 'abort'];
    const hasty: readonly Goal[] = ['compromised', 'disable now'];
    const split: readonly Goal[] = ['roll ZSK', 'roll ZSK', 'roll KSK'];
    return pick(this.#random, [
      ...goals,
      ...(this.around.isHasty ? hasty : []),
      ...(this.around.isSplit ? split : []),
    ]);
  }

  want(goal: Goal): void {
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
      case 'roll KSK':
        return roll(machine, this.#makeKeys(algorithm, ['ksk']), false);
      case 'roll ZSK':
        return roll(machine, this.#makeKeys(algorithm, ['zsk']), false);
      case 'algorithm':
        return roll(machine, this.#makeKeys(algorithm === 13 ? 15 : 13), false);
      case 'abort':
        return abort(machine);
      default:
        return goal satisfies never;
    }
  }

  #makeKeys(
    algorithm: number,
    roles: readonly KeyRole[] = this.around.isSplit ? ['ksk', 'zsk'] : ['csk'],
  ): MachineKey[] {
    const keys = roles.map((role) => madeKey(`${role}${++this.#made}`, role, algorithm));
    for (const key of keys) this.history.keys.set(key.id, key);
    return keys;
  }

  enter(keys: readonly string[], lags?: readonly number[], digestType = 2): void {
    const ds = keys.flatMap((id) => this.history.keys.get(id)?.ds ?? []);
    const entered = ds.filter((text) => dsFields(text).digestType === digestType);
    this.#parent.enter(entered, this.#now, lags);
  }

  readCds(node: number): readonly string[] {
    const { keys } = this.#nodes.readCds(node);
    this.history.read.push({ at: this.#now, keys });
    return keys;
  }

  /** The instructions of the API or the CDS set at this moment. */
  #told(): Told {
    const { machine } = this.#stored;
    const texts = (id: string) => keyOf(machine, id).ds;
    if (this.around.registrar === 'reads CDS') return this.#readCds();
    return {
      add: this.told.map(texts),
      isCertain: this.told.length > 0 || machine.goal === 'unsigned',
      guessed: this.#stored.serving.keySigners.map(texts),
    };
  }

  #readCds(): Told {
    const nothing = { add: [], isCertain: false, guessed: [] };
    if (isWithin(this.around.elsewhere, this.#now)) return nothing;
    const { keys, isDelete, at } = this.#nodes.readCds();
    if (keys.length === 0 && !isDelete) return nothing;
    this.history.read.push({ at: this.#now, keys });
    const add = keys.map((id) => this.history.keys.get(id)?.ds ?? []);
    return { add, isCertain: true, guessed: [], signedAt: at };
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
    const { machine } = this.#stored;
    const facts = this.#facts(machine);
    const { machine: next, step } = this.#tested.advance(machine, facts, this.#rules);
    this.#store({ ...this.#stored, machine: next });
    if (step !== undefined) this.#begin(step);
    this.#tickFrom(this.#pause(next, facts.at));
  }

  /** Nodes, wrong answers and registrars are examined less often than in reality, which detects the same in the end. */
  #pause(machine: Machine, at: number): number {
    const usual = Math.max(MINUTE, nextLookIn(machine, at));
    if (machine.waiting === null) return Math.max(usual, 3 * HOUR);
    const { cause, since } = machine.waiting;
    switch (cause) {
      case 'writing':
      case 'nodes':
        return Math.max(usual, at - since < 2 * HOUR ? 20 * MINUTE : 6 * HOUR);
      case 'preflight':
      case 'strangers':
        return Math.max(usual, HOUR);
      case 'ds_wanted':
      case 'ds_unwanted':
        return Math.max(usual, at - since < DAY ? HOUR : 4 * HOUR);
      default:
        return usual;
    }
  }

  #facts(machine: Machine): Facts {
    const at = this.#clock(this.#now);
    const ds = isDsDue(machine, at) ? { ds: this.#parent.observe(this.#now, at) } : {};
    const preflight = isPreflightDue(machine, at, this.#rules)
      ? { preflight: this.#nodes.preflight(at, machine.keys, this.around.elsewhere) }
      : {};
    return {
      at,
      epoch: String(this.#epoch),
      nodes: this.#nodes.positions((time) => this.#clock(time)),
      dataTtl: this.#dataTtlSince(machine.clock),
      delegation: this.#parent.delegation(this.#now),
      ...ds,
      ...preflight,
    };
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

  // the contents of Postgres

  #content(): ZoneContent {
    const { version, serving, cds } = this.#stored;
    return { epoch: this.#epoch, version, serving, cds };
  }

  #store(stored: Stored): void {
    this.#stored = stored;
    this.history.disclose(this.#now, this.told);
    const oldest = this.#now - 26 * HOUR;
    while ((this.#backups[1]?.at ?? Number.POSITIVE_INFINITY) < oldest) this.#backups.shift();
    this.#backups.push({ at: this.#now, stored });
    if (this.#goesOn?.(stored.machine) !== true) return;
    this.#goesOn = undefined;
    this.#events.add(this.#now, () => this.#playOn());
  }

  #begin(step: Step): void {
    const isRestored = this.#now < CALM - 15 * DAY && this.#random() < this.around.restoreShare;
    if (isRestored)
      this.#events.add(this.#now + this.#random() * 36 * HOUR, () =>
        this.restore(this.around.backupAfterMs * this.#random()),
      );
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
      const isDelete = machine.goal === 'unsigned' && machine.asked.length === 0 && serving.keys.length > 0;
      const cds = { keys: machine.asked, isDelete, at: this.#now };
      this.#store({ machine, version, serving, cds });
      this.#nodes.follow();
      this.#tickFrom(MINUTE);
    });
  }

  /** While new signatures are written in pieces, some sets have them and others have the old ones. */
  #mix(before: Serving, after: Serving, from: number): void {
    this.history.serve({ ...before, dataSigners: after.dataSigners }, from, this.#now);
  }

  #edit(): void {
    this.#store({ ...this.#stored, version: this.#stored.version + 1 });
    this.#nodes.follow();
  }

  /** Writes in progress continue in the restored database. */
  restore(age: number): void {
    const backup = this.#backups.findLast(({ at }) => at <= this.#now - age) ?? this.#backups[0];
    if (backup === undefined) return;
    this.history.restored.push({ at: this.#now, backupAt: backup.at });
    this.#epoch++;
    this.#write++;
    this.#backups = [];
    this.#store(backup.stored);
    this.#nodes.follow();
    const { machine } = backup.stored;
    if (machine.version === null) this.#writeUntil(this.#now + HOUR, machine.serving);
    this.#tickFrom(MINUTE);
  }

  /** True if the goal is reached, as it must be at the end. */
  get isReached(): boolean {
    const { machine, serving } = this.#stored;
    if (machine.goal === 'unsigned') return serving.keys.length === 0 && machine.waiting === null;
    const isServed = isSameSet(serving.keys, wantedIds(machine));
    return isServed && isSameSet(machine.asked, [machine.wanted?.sep ?? '']) && machine.waiting === null;
  }
}
