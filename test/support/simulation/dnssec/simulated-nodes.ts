// The nodes of a simulated fleet: what each of them serves and when, while it lags, is disconnected, lost, full or broken.

import type { Preflight } from '../../../../src/checks/dnssec/machine.ts';
import type { MachineKey } from '../../../../src/checks/dnssec/machine-key.ts';
import type { NodePosition } from '../../../../src/checks/dnssec/node-positions.ts';
import { type Serving, UNSIGNED } from '../../../../src/checks/dnssec/serving.ts';
import type { Random } from '../../random/random-zones.ts';
import { DAY, type EventQueue, isWithin, MINUTE, type Span } from '../virtual-time.ts';
import type { KeyHistory } from './key-history.ts';
import type { SimulatedNode } from './simulated-surroundings.ts';

/** The CDS set (RFC 7344). */
export interface Cds {
  readonly keys: readonly string[];
  /** It requests that all DS records are removed (RFC 8078 §4). */
  readonly isDelete: boolean;
  /** When its signature was made. Readers ignore older ones (RFC 7344 §6.2). */
  readonly at: number;
}

export const NO_CDS: Cds = { keys: [], isDelete: false, at: 0 };

export interface ZoneContent {
  readonly epoch: number;
  readonly version: number;
  readonly serving: Serving;
  readonly cds: Cds;
}

interface Node extends ZoneContent {
  readonly simulated: SimulatedNode;
  readonly since: number;
  /** It was lost, and has not loaded the zone since. */
  readonly isDown: boolean;
}

/** Interval for renewing signatures. */
const REFRESH = 7 * DAY;

export class SimulatedNodes {
  readonly #nodes: Node[];
  readonly #random: Random;
  readonly #events: EventQueue;
  readonly #history: KeyHistory;
  readonly #now: () => number;
  readonly #content: () => ZoneContent;

  constructor(
    simulated: readonly SimulatedNode[],
    around: {
      readonly random: Random;
      readonly events: EventQueue;
      readonly history: KeyHistory;
      readonly now: () => number;
      readonly content: () => ZoneContent;
    },
  ) {
    this.#random = around.random;
    this.#events = around.events;
    this.#history = around.history;
    this.#now = around.now;
    this.#content = around.content;
    const content = { epoch: 0, version: 0, serving: UNSIGNED, cds: NO_CDS };
    this.#nodes = simulated.map((each) => ({ ...content, simulated: each, since: 0, isDown: false }));
    for (const index of this.#nodes.keys()) this.#plan(index);
  }

  #plan(index: number): void {
    const { lost, cutOff, full, broken } = this.#at(index).simulated;
    for (const { from, to } of lost) {
      this.#events.add(from, () => this.#note(index, { isDown: true }));
      this.#events.add(to, () => this.#load(index));
    }
    for (const { to } of [...cutOff, ...full]) this.#events.add(to + MINUTE, () => this.#load(index));
    if (broken !== undefined) this.#events.add(broken.to, () => this.#note(index));
  }

  #at(index: number): Node {
    return this.#nodes[index] as Node;
  }

  /** Each node receives the contents of Postgres after its lag. */
  follow(): void {
    for (const [index, { simulated }] of this.#nodes.entries())
      this.#events.add(this.#now() + this.#random() * simulated.lag, () => this.#load(index));
  }

  #load(index: number): void {
    const { simulated, isDown, epoch, version } = this.#at(index);
    const { cutOff, lost, full } = simulated;
    if (isWithin([...cutOff, ...lost, ...full], this.#now())) return;
    const content = this.#content();
    if (!isDown && epoch === content.epoch && version === content.version) return;
    this.#note(index, { ...content, isDown: false });
  }

  /** Records in the history what it has served until now. */
  #note(index: number, then: Partial<Node> = {}): void {
    const node = this.#at(index);
    if (!node.isDown) this.#history.serve(this.#truth(node), node.since, this.#now());
    this.#nodes[index] = { ...node, since: this.#now(), ...then };
  }

  end(): void {
    for (const index of this.#nodes.keys()) this.#note(index);
  }

  #truth({ serving, simulated: { broken } }: Node): Serving {
    const isBroken = broken !== undefined && this.#now() <= broken.to && serving.keys.length > 0;
    return isBroken ? { ...serving, dataSigners: [BROKEN] } : serving;
  }

  /** When it last received data from Postgres, and Postgres from it. */
  #heardAt({ simulated: { cutOff, lost } }: Node): number {
    const now = this.#now();
    const silent = [...cutOff, ...lost].filter(({ from, to }) => now >= from && now < to);
    return Math.min(now, ...silent.map(({ from }) => from));
  }

  positions(clock: (at: number) => number): NodePosition[] {
    const now = this.#now();
    const { epoch } = this.#content();
    return this.#nodes.map((node, index) => {
      const hasAll = node.epoch === epoch && !isWithin(node.simulated.full, now) && !node.isDown;
      return {
        id: String(index),
        version: hasAll ? node.version : null,
        heardAt: clock(this.#heardAt(node)),
        isGone: now >= node.simulated.forgottenAt,
      };
    });
  }

  preflight(at: number, keys: readonly MachineKey[], elsewhere: readonly Span[]): Preflight {
    if (isWithin(elsewhere, this.#now()))
      return { at, verifiedBy: [], hasStrangers: false, failure: 'servers of others' };
    const seen = this.#nodes.filter(({ isDown }) => !isDown).map((node) => this.#truth(node));
    const verifiedBy = seen
      .map(({ keySigners, dataSigners }) => (dataSigners.some((id) => id !== BROKEN) ? keySigners : []))
      .reduce((a, b) => a.filter((id) => b.includes(id)), seen[0]?.keySigners ?? []);
    const hasStrangers = seen.some((node) => node.keys.some((id) => !keys.some((key) => key.id === id)));
    const failure = verifiedBy.length === 0 ? { failure: 'does not verify' } : {};
    return { at, verifiedBy, hasStrangers, ...failure };
  }

  /** The CDS set as a registry reads it, from one node or from any that answers. */
  readCds(index?: number): Cds {
    const up = this.#nodes.filter(({ isDown }) => !isDown);
    const node = index === undefined ? up[Math.floor(this.#random() * up.length)] : this.#at(index);
    if (node === undefined) return NO_CDS;
    const heardAt = this.#heardAt(node);
    return { ...node.cds, at: Math.max(node.cds.at, heardAt - (heardAt % REFRESH)) };
  }
}

const BROKEN = 'broken';
