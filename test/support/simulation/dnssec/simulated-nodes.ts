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

export function simulateNodes(
  simulated: readonly SimulatedNode[],
  around: {
    readonly random: Random;
    readonly events: EventQueue;
    readonly history: KeyHistory;
    readonly nowMs: () => number;
    readonly stored: () => ZoneContent;
  },
) {
  const { random, events, history, nowMs, stored } = around;
  const empty = { epoch: 0, version: 0, serving: UNSIGNED, cds: NO_CDS };
  const nodes = simulated.map((each): Node => ({ ...empty, simulated: each, since: 0, isDown: false }));

  function plan(index: number): void {
    const { lost, cutOff, full, broken } = nodeAt(index).simulated;
    for (const { from, to } of lost) {
      events.add(from, () => note(index, { isDown: true }));
      events.add(to, () => load(index));
    }
    for (const { to } of [...cutOff, ...full]) events.add(to + MINUTE, () => load(index));
    if (broken !== undefined) events.add(broken.to, () => note(index));
  }

  function nodeAt(index: number): Node {
    return nodes[index] as Node;
  }

  /** Each node receives the contents of Postgres after its lag. */
  function follow(): void {
    for (const [index, { simulated }] of nodes.entries())
      events.add(nowMs() + random() * simulated.lag, () => load(index));
  }

  function load(index: number): void {
    const { simulated, isDown, epoch, version } = nodeAt(index);
    const { cutOff, lost, full } = simulated;
    if (isWithin([...cutOff, ...lost, ...full], nowMs())) return;
    const content = stored();
    if (!isDown && epoch === content.epoch && version === content.version) return;
    note(index, { ...content, isDown: false });
  }

  /** Records in the history what it has served until now. */
  function note(index: number, then: Partial<Node> = {}): void {
    const node = nodeAt(index);
    if (!node.isDown) history.serve(truth(node), node.since, nowMs());
    nodes[index] = { ...node, since: nowMs(), ...then };
  }

  function end(): void {
    for (const index of nodes.keys()) note(index);
  }

  function truth({ serving, simulated: { broken } }: Node): Serving {
    const isBroken = broken !== undefined && nowMs() <= broken.to && serving.keys.length > 0;
    return isBroken ? { ...serving, dataSigners: [BROKEN] } : serving;
  }

  /** When it last received data from Postgres, and Postgres from it. */
  function heardAt({ simulated: { cutOff, lost } }: Node): number {
    const now = nowMs();
    const silent = [...cutOff, ...lost].filter(({ from, to }) => now >= from && now < to);
    return Math.min(now, ...silent.map(({ from }) => from));
  }

  function positions(clock: (at: number) => number): NodePosition[] {
    const now = nowMs();
    const { epoch } = stored();
    return nodes.map((node, index) => {
      const hasAll = node.epoch === epoch && !isWithin(node.simulated.full, now) && !node.isDown;
      return {
        id: String(index),
        version: hasAll ? node.version : null,
        heardAt: clock(heardAt(node)),
        isGone: now >= node.simulated.forgottenAt,
      };
    });
  }

  function preflight(at: number, keys: readonly MachineKey[], elsewhere: readonly Span[]): Preflight {
    if (isWithin(elsewhere, nowMs()))
      return { at, verifiedBy: [], hasStrangers: false, failure: 'servers of others' };
    const seen = nodes.filter(({ isDown }) => !isDown).map((node) => truth(node));
    const verifiedBy = seen
      .map(({ keySigners, dataSigners }) => (dataSigners.some((id) => id !== BROKEN) ? keySigners : []))
      .reduce((a, b) => a.filter((id) => b.includes(id)), seen[0]?.keySigners ?? []);
    const hasStrangers = seen.some((node) => node.keys.some((id) => !keys.some((key) => key.id === id)));
    const failure = verifiedBy.length === 0 ? { failure: 'does not verify' } : {};
    return { at, verifiedBy, hasStrangers, ...failure };
  }

  /** The CDS set as a registry reads it, from one node or from any that answers. */
  function readCds(index?: number): Cds {
    const up = nodes.filter(({ isDown }) => !isDown);
    const node = index === undefined ? up[Math.floor(random() * up.length)] : nodeAt(index);
    if (node === undefined) return NO_CDS;
    const last = heardAt(node);
    return { ...node.cds, at: Math.max(node.cds.at, last - (last % REFRESH)) };
  }

  for (const index of nodes.keys()) plan(index);
  return { follow, end, positions, preflight, readCds };
}

const BROKEN = 'broken';
