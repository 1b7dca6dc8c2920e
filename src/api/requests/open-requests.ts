// Opens the intake for requests that edges report, its spool on disk, and the inserts into the analytics store.

import type { FastifyBaseLogger } from 'fastify';
import type { Analytics } from '../../analytics/open-analytics.ts';
import { loadVisitorKey } from '../../store/edges/edge-requests.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Budget, ByteBudget } from './batch-limits.ts';
import type { PaceBounds } from './body-pace.ts';
import { SpoolFlusher } from './flush-spool.ts';
import { Spool } from './spool.ts';
import { REQUEST_BOUNDS, RequestIntake } from './take-requests.ts';

const MIB = 1024 * 1024;
/** Budget of one edge, in unpacked bytes. 8 MiB are about 30,000 lines. */
const BUDGET: Budget = { bytes: 256 * MIB, bytesASecond: 8 * MIB };

interface RequestsOptions {
  readonly db: Database;
  readonly analytics: Pick<Analytics, 'insert'>;
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  readonly directory: string;
  readonly mostBytes: number;
  readonly wholeClients: boolean;
  readonly metrics?: {
    countLines(outcome: string, lines: number): void;
    watchSpool(spool: Spool): void;
    countFlushed(lines: number): void;
    countLost(why: string, lines: number): void;
  };
  readonly budget?: Budget;
  readonly pace?: PaceBounds;
  readonly nowMs?: () => number;
}

interface OpenRequests {
  readonly intake: RequestIntake;
  readonly spool: Spool;
  /** Batches in the spool stay there for the next process. */
  close(): Promise<void>;
}

const LOST = {
  full: 'the spool is full: the oldest requests of edges are dropped',
  damaged: 'a file of the spool cannot be read: its requests are lost',
} as const;

/** Rejects if the directory is not writable. */
export async function openRequests(options: RequestsOptions): Promise<OpenRequests> {
  const { db, analytics, log, directory, mostBytes, metrics } = options;
  const spool = await Spool.open({
    directory,
    mostBytes,
    onLost(lines, why) {
      metrics?.countLost(why, lines);
      log.warn({ lines }, LOST[why]);
    },
  });
  metrics?.watchSpool(spool);
  const onFlushed = (lines: number) => metrics?.countFlushed(lines);
  const flusher = new SpoolFlusher({ spool, analytics, log, onFlushed });
  let key: Promise<Buffer> | undefined;
  const intake = new RequestIntake({
    db,
    spool,
    budget: new ByteBudget(options.budget ?? BUDGET),
    pace: options.pace ?? REQUEST_BOUNDS.pace,
    visitorKey() {
      key ??= loadVisitorKey(db).catch((error: unknown) => {
        key = undefined;
        throw error;
      });
      return key;
    },
    wholeClients: options.wholeClients,
    countLines: (outcome, lines) => metrics?.countLines(outcome, lines),
    nowMs: options.nowMs ?? Date.now,
  });
  return {
    intake,
    spool,
    async close() {
      await flusher.close();
      await spool.close();
    },
  };
}
