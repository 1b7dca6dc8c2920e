// One domain in a fleet without faults, hour by hour: nodes receive each change within the hour, and the test controls what
// the parent shows. `steps` has the machine's steps and their times.

import { advance, type Facts, written } from '../../../../src/checks/dnssec/advance.ts';
import type { DsAnswer, DsEvidence, DsOutcome } from '../../../../src/checks/dnssec/ds-evidence.ts';
import { newMachine } from '../../../../src/checks/dnssec/goals.ts';
import type { Machine, Preflight } from '../../../../src/checks/dnssec/machine.ts';
import { RULES } from '../../../../src/checks/dnssec/rules.ts';
import type { Delegation, StepKind } from '../../../../src/checks/dnssec/step.ts';
import { parseName } from '../../../../src/dns/name.ts';
import { dsRdata } from './made-keys.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const START = 20_000 * DAY;

const DOMAIN = parseName('example.org.');
const PARENT = parseName('org.');

interface QuietStep {
  readonly kind: StepKind;
  readonly at: number;
  /** The DNSKEY set, its signers, the signers of data, and the requested DS. */
  readonly text: string;
}

export class QuietDomain {
  machine: Machine;
  at = START;
  /** Answers of the parent's addresses. Undefined for a silent one. */
  shown: (readonly string[] | undefined)[] = [[], []];
  dsTtl = 3600;
  dataTtl = 3600;
  epoch = 'first';
  delegation: Delegation = { kind: 'ours', since: START, ttl: 3600, isFirst: true };
  failure: string | undefined;
  isPreflown = true;
  /** True if the node stays at its version. */
  isCutOff = false;
  /** True if steps begin but do not end. */
  isWriting = false;
  /** Our keys that another operator's servers show. Undefined if they were not queried. */
  theirs: readonly string[] | undefined;
  readonly steps: QuietStep[] = [];
  #version = 1;
  #served = 1;

  constructor() {
    this.machine = newMachine(START, this.dataTtl);
  }

  /** Returns a copy of the domain that continues independently. */
  copy(): QuietDomain {
    const copy = Object.assign(new QuietDomain(), this, { steps: [...this.steps] });
    copy.#version = this.#version;
    copy.#served = this.#served;
    return copy;
  }

  show(...ds: readonly string[]): void {
    this.shown = this.shown.map(() => ds);
  }

  want(change: (machine: Machine) => Machine | string): void {
    const machine = change(this.machine);
    if (typeof machine === 'string') throw new Error(`refused: ${machine}`);
    this.machine = machine;
  }

  /** Runs for this many hours, or until `when` is true. */
  run(hours: number, when: (machine: Machine) => boolean = () => false): void {
    for (let hour = 0; hour < hours && !when(this.machine); hour++) {
      this.at += HOUR;
      this.tick();
    }
  }

  tick(): void {
    const { machine, step } = advance(this.machine, this.facts(), RULES);
    this.machine = machine;
    if (step === undefined) return;
    this.#version++;
    const { keys, keySigners, dataSigners } = step.serving;
    const text = [keys, keySigners, dataSigners, step.asked].map((ids) => ids.join('') || '-').join(' ');
    this.steps.push({ kind: step.kind, at: this.at, text });
    if (!this.isWriting) this.machine = written(machine, this.#version);
  }

  facts(): Facts {
    if (!this.isCutOff) this.#served = this.#version;
    const node = { id: 'n', version: this.#served, heardAt: this.at, isGone: false };
    return {
      at: this.at,
      epoch: this.epoch,
      nodes: [node],
      dataTtl: this.dataTtl,
      delegation: this.delegation,
      ds: dsEvidence(this.shown, this.dsTtl, this.at),
      ...(this.isPreflown ? { preflight: this.#preflight() } : {}),
      ...(this.theirs && { theirs: { keys: this.theirs, ttl: 3600 } }),
    };
  }

  hoursOf(kind: StepKind): number[] {
    return this.steps.filter((step) => step.kind === kind).map(({ at }) => (at - START) / HOUR);
  }

  #preflight(): Preflight {
    const failure = this.failure === undefined ? {} : { failure: this.failure };
    return { at: this.at, verifiedBy: this.machine.serving.keySigners, hasStrangers: false, ...failure };
  }
}

export function dsEvidence(
  shown: readonly (readonly string[] | undefined)[],
  ttl: number,
  at: number,
): DsEvidence {
  const answers = shown.map((ds, i): DsAnswer => {
    const outcome: DsOutcome = ds === undefined ? 'unknown' : ds.length === 0 ? 'none' : 'positive';
    return {
      server: PARENT,
      address: `192.0.2.${i + 1}`,
      outcome,
      ds: (ds ?? []).map(dsRdata),
      ttl: ds === undefined ? undefined : ttl,
      error: undefined,
    };
  });
  return { domain: DOMAIN, parent: PARENT, answers, parentIsSecure: true, observedAt: at };
}
