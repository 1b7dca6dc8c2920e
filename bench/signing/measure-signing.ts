// Signs during edits: its duration, the event loop delay of the signing process, and the duration of edits.

import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { EdgeSets } from '../../src/zone/edge-sets.ts';
import type { BenchOptions } from '../part.ts';
import { type Program, runProgram } from '../program.ts';
import { say } from '../say.ts';
import type { Done, Order } from './orders.ts';
import type { SigningDatabase } from './signing-database.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EDITS_PER_SECOND = 20;

export interface Signed {
  readonly done: Done;
  /** Duration of the concurrent edits in milliseconds. */
  readonly edits: readonly number[];
  /** Load of the machine in the minute before the end. */
  readonly load: number;
}

export interface MeasuredSigning {
  readonly whole: Readonly<Record<'nsec' | 'nsec3', Signed>>;
  readonly enabled: Signed;
  /** Seconds that a batch takes: unsigned, and signed with NSEC. */
  readonly batch: { readonly unsigned: number; readonly signed: number; readonly load: number };
}

/** Signs all names for one list of sets after the other. Existing signatures are kept. */
export async function measureRegionSigning(
  { url, domainId }: { readonly url: string; readonly domainId: number },
  wanted: readonly { readonly sets: EdgeSets; readonly signatures: number }[],
): Promise<Signed[]> {
  const [signer, editor] = [await start(url), await start(url)];
  try {
    await signer.order({ kind: 'sign', domainId, denial: 'nsec' });
    const measured: Signed[] = [];
    for (const one of wanted) {
      const order = { kind: 'regions', domainId, ...one } as const;
      measured.push(await whileEdited({ signer, editor }, order, [domainId]));
    }
    return measured;
  } finally {
    await Promise.all([signer.stop(), editor.stop()]);
  }
}

export async function measureSigning(
  database: SigningDatabase,
  batchRecords: number,
  options: BenchOptions,
): Promise<MeasuredSigning> {
  const { url, largeId, smallIds, otherIds } = database;
  const [signer, editor] = [await start(url), await start(url)];
  const meanwhile = (order: Order, edited: readonly number[]) =>
    whileEdited({ signer, editor }, order, edited);
  const batchSeconds = async () => {
    const runs: number[] = [];
    for (let round = 0; round < options.rounds; round++) {
      const { millis } = await signer.order({ kind: 'batch', domainId: largeId, records: batchRecords });
      runs.push((millis[0] as number) / 1000);
    }
    return Math.min(...runs);
  };
  try {
    const unsigned = await batchSeconds();
    const nsec = await meanwhile({ kind: 'sign', domainId: largeId, denial: 'nsec' }, [largeId]);
    const signed = await batchSeconds();
    const load = loadavg()[0] as number;
    await signer.order({ kind: 'unsign', domainId: largeId });
    const nsec3 = await meanwhile({ kind: 'sign', domainId: largeId, denial: 'nsec3' }, [largeId]);
    await signer.order({ kind: 'unsign', domainId: largeId });
    const enabled = await meanwhile({ kind: 'enable', domainIds: smallIds }, otherIds);
    return { whole: { nsec, nsec3 }, enabled, batch: { unsigned, signed, load } };
  } finally {
    await Promise.all([signer.stop(), editor.stop()]);
  }
}

async function whileEdited(
  { signer, editor }: { readonly signer: Running; readonly editor: Running },
  order: Order,
  edited: readonly number[],
): Promise<Signed> {
  const editing = editor.order({ kind: 'edit', domainIds: edited, perSecond: EDITS_PER_SECOND });
  const done = await signer.order(order);
  editor.tell({ kind: 'stop' });
  const { millis } = await editing;
  const load = loadavg()[0] as number;
  say(
    `  ${order.kind}: ${done.seconds.toFixed(1)} s, late ${done.lateMs.worst.toFixed(0)} ms, ${millis.length} edits`,
  );
  return { done, edits: millis, load };
}

interface Running {
  tell(order: Order): void;
  order(order: Order): Promise<Done>;
  stop(): Promise<void>;
}

async function start(url: string): Promise<Running> {
  const command = [process.execPath, '--import', 'tsx', 'bench/signing/signing-process.ts', url];
  const program: Program = runProgram(command, { ipc: true, cwd: ROOT });
  const ended = program.ended.then((code) => {
    throw new Error(`a process that signs ended with ${code}:\n${program.output()}`);
  });
  ended.catch(() => {});
  const message = async <T>() => (await Promise.race([once(program.child, 'message'), ended]))[0] as T;
  await message<string>();
  return {
    tell: (order) => void program.child.send(order),
    async order(order) {
      const done = message<Done>();
      program.child.send(order);
      return await done;
    },
    stop: () => program.stop(),
  };
}
