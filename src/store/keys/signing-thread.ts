// A thread that plans and signs large changes, one after the other. It has no database connection: rows come from the
// main thread, and results go back to it in pieces.

import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Name } from '../../dns/name.ts';
import { planChain } from '../../zone/signing/plan-chain.ts';
import { type Planning, planChange } from '../../zone/signing/plan-change.ts';
import type { OwnerRows, PlannedRows } from '../../zone/signing/plan-rows.ts';
import { signedRows } from '../../zone/signing/plan-rows.ts';
import type { SigningOrder, SigningPlan } from '../../zone/signing/plan-signing.ts';
import { rowPieces } from '../../zone/signing/row-pieces.ts';
import { signSet } from '../../zone/signing/sign-set.ts';
import { recordsByOwner } from '../../zone/signing/standing.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { isOfSigner, withApexKeys } from './signed-zone.ts';
import {
  buffersOf,
  type FromThread,
  PIECES_AHEAD,
  packOwners,
  type SigningJob,
  type ToThread,
  unpackRecords,
} from './signing-job.ts';

/** Includes unchanged rows. With an address at each name of the zone, these are 160 names and 480 written rows. */
const PIECE_ROWS = 800;

yieldToOthers();

const port = parentPort as MessagePort;
const arrived: ToThread[] = [];
let onArrival: (() => void) | undefined;
port.on('message', (message: ToThread) => {
  arrived.push(message);
  onArrival?.();
});

for (;;) {
  const message = await next();
  if (message.kind === 'begin') await work(message.job);
}

async function work(job: SigningJob): Promise<void> {
  try {
    const plan = await planOfJob(job);
    await sendPieces(job, plan);
    say({ kind: 'done' });
  } catch (error) {
    const { message, stack } = error as Error;
    say({ kind: 'failed', message, stack });
  }
}

async function planOfJob(job: SigningJob): Promise<SigningPlan | undefined> {
  if (job.work.kind === 'whole') return await planPresent(job);
  return await (job.work.kind === 'chain' ? planOther(job) : planWanted(job));
}

async function planOther(job: SigningJob): Promise<SigningPlan | undefined> {
  const rows = await receiveRecords();
  if (!rows.some(({ owner }) => owner === job.apex)) return undefined; // the zone was just unloaded
  return planChain(rows, job);
}

async function planWanted(job: SigningJob): Promise<SigningPlan> {
  const { apex, denial, keys, remakeBefore, work } = job;
  if (work.kind !== 'change') throw new TypeError('expected a job of kind "change"');
  const wanted = new Map<Name, readonly ZoneRecord[]>(recordsByOwner(await receiveRecords()));
  for (const name of work.gone) wanted.set(name, []);
  const order: SigningOrder = { apex, denial, keys, remakeBefore, wanted, whole: work.isWhole };
  const missing = work.missing && new Map(unpackRecords(work.missing).map((one) => [one.owner, one]));
  return await drive(planChange(order, missing));
}

/** Plans to keep all present records except those that the signer makes. */
async function planPresent(job: SigningJob): Promise<SigningPlan | undefined> {
  const { apex, denial, keys, remakeBefore, work } = job;
  if (work.kind !== 'whole') throw new TypeError('expected a job of kind "whole"');
  const rows = await receiveRecords();
  const records = recordsByOwner(rows.filter((record) => !isOfSigner(apex, record)));
  if (!records.has(apex)) return undefined; // the zone was just unloaded
  const wanted = withApexKeys(apex, work.signed, records);
  const planning = planChange({ apex, denial, keys, remakeBefore, wanted, whole: true });
  for (let step = planning.next(); ; step = planning.next(rows)) if (step.done) return step.value;
}

async function drive(planning: Planning): Promise<SigningPlan> {
  for (let step = planning.next(); ; ) {
    if (step.done) return step.value;
    say({ kind: 'needed', needed: step.value });
    step = planning.next(await receiveRecords());
  }
}

async function sendPieces(job: SigningJob, plan: SigningPlan | undefined): Promise<void> {
  let ahead = 0;
  for (const piece of rowPieces(signedOwners(job, plan?.planned ?? []), PIECE_ROWS)) {
    const rows = packOwners(piece);
    say({ kind: 'piece', rows }, [rows.counts.buffer as ArrayBuffer, ...buffersOf(rows.records)]);
    for (ahead++; ahead >= PIECES_AHEAD || arrived.length > 0; ahead--) await next(); // only `taken` messages can arrive
  }
}

/** Signs each owner when it is requested. A separate thread may block for signatures. */
function* signedOwners(
  { apex: zone, times }: SigningJob,
  planned: readonly PlannedRows[],
): Generator<OwnerRows> {
  for (const rows of planned) {
    const signatures = rows.toSign.map((one) => signSet(one, { zone, times }));
    yield signedRows(rows, signatures.values());
  }
}

async function receiveRecords(): Promise<ZoneRecord[]> {
  const all: ZoneRecord[] = [];
  for (;;) {
    const message = await next();
    if (message.kind !== 'records') throw new TypeError(`expected records, got "${message.kind}"`);
    for (const record of unpackRecords(message.records)) all.push(record);
    if (message.isLast) return all;
  }
}

async function next(): Promise<ToThread> {
  while (arrived.length === 0) await new Promise<void>((resolve) => (onArrival = resolve));
  return arrived.shift() as ToThread;
}

function say(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

/** Lowers this thread's priority, so that the main thread comes first on a busy machine. Linux sets it per thread. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A system call filter may forbid it. The thread works without it.
  }
}
