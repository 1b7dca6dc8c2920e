// Carries out the planned faults, and waits after each until the whole fleet works again.

import { setTimeout as pause } from 'node:timers/promises';
import { findLost } from './audit.ts';
import type { Editor } from './edit-names.ts';
import type { EditedNames } from './edited-names.ts';
import { type Fleet, NODES, type NodeLabel, STANDBY_READER } from './fleet.ts';
import type { Freshness } from './freshness.ts';
import type { Journal } from './journal.ts';
import type { Fault, Target } from './plan-faults.ts';

interface FaultContext {
  readonly fleet: Fleet;
  readonly names: EditedNames;
  readonly editor: Editor;
  readonly freshness: Freshness;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

/** Time for everything to work again after a fault. */
const RECOVERY_MS = 180_000;

/** What is broken at the moment, for the samples. */
export class Faults {
  readonly active = new Set<string>();
  readonly #context: FaultContext;

  constructor(context: FaultContext) {
    this.#context = context;
  }

  /** Runs until the piece ends. A fault that has begun is also ended. */
  async run(plan: Iterable<Fault>): Promise<void> {
    const { signal } = this.#context;
    let running: Promise<void>[] = [];
    for (const fault of plan) {
      const waitMs = running.length > 0 ? Math.min(fault.waitMs, 1000) : fault.waitMs;
      await pause(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      running.push(this.#inject(fault));
      if (fault.overlaps) continue;
      await Promise.all(running);
      running = [];
      await this.recover();
    }
    await Promise.all(running);
    if (running.length > 0) await this.recover();
  }

  async #inject(fault: Fault): Promise<void> {
    const { journal, freshness } = this.#context;
    const text = `${fault.kind} ${fault.target}`;
    journal.event('fault', `${text} for ${(fault.lastsMs / 1000).toFixed(1)} s`);
    freshness.disturb(disturbedNodes(fault.target), performance.now());
    this.active.add(text);
    try {
      await this.#carryOut(fault);
    } catch (error) {
      journal.event('unrecovered', `${text}: ${(error as Error).message}`);
    } finally {
      this.active.delete(text);
    }
  }

  async #carryOut({ kind, target, lastsMs }: Fault): Promise<void> {
    const { fleet } = this.#context;
    if (target === 'disk') {
      fleet.disk.fill();
      await pause(lastsMs);
      fleet.disk.clear();
      return;
    }
    if (kind === 'hand-over') {
      const label = target as NodeLabel;
      await fleet.programs[label].handOver(() => fleet.handOver(label));
      return;
    }
    const program = target === 'postgres' ? fleet.primary : target === 'standby' ? fleet.standby : undefined;
    const broken = program ?? fleet.supervised(target);
    if (broken === undefined) throw new Error(`there is no ${target}`);
    if (kind === 'freeze') {
      broken.freeze();
      await pause(lastsMs);
      broken.thaw();
      return;
    }
    await (kind === 'kill' ? broken.kill() : broken.stop());
    if (kind !== 'restart') await pause(lastsMs);
    await broken.start();
  }

  /** Waits until every process is ready and every node has every confirmed edit. */
  async recover(): Promise<void> {
    const { fleet, names, editor, journal, freshness } = this.#context;
    const startedMs = performance.now();
    const notReady = await this.#untilReady(startedMs + RECOVERY_MS);
    for (const each of notReady) journal.event('unrecovered', `${each} is not ready`);
    // The editor repeats its calls while Postgres is unavailable.
    await editor.pause();
    const lost = await findLost(names, fleet.askers, RECOVERY_MS);
    for (const each of lost.slice(0, 10)) journal.event('lost', each);
    editor.resume();
    freshness.recovered(performance.now());
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    journal.event('recovered', `after ${seconds} s`, { seconds });
  }

  async #untilReady(deadline: number): Promise<string[]> {
    const { fleet } = this.#context;
    for (;;) {
      const servers = [fleet.primary, fleet.standby];
      for (const server of servers) if (!server.isRunning) await server.start();
      const ready = await Promise.all(
        Object.values(fleet.programs).map(async (program) =>
          (await program.plan.isReady()) ? undefined : program.label,
        ),
      );
      const missing = ready.filter((label) => label !== undefined);
      if (missing.length === 0 || performance.now() > deadline) return missing;
      await pause(500);
    }
  }
}

/** Returns the nodes whose answers may be older while the target is broken. */
function disturbedNodes(target: Target): readonly NodeLabel[] {
  if (target === 'postgres' || target === 'disk') return NODES;
  if (target === 'standby') return [STANDBY_READER];
  return NODES.filter((node) => node === target);
}
