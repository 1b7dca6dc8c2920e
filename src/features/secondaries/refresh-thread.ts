// The thread in which a workers process refreshes copies of primaries' zones. It has its own connections to Postgres.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { networksOf } from '../../dns/record/network.ts';
import { querySoa } from '../../resolver/transfer/query-soa.ts';
import { transferZone } from '../../resolver/transfer/transfer-zone.ts';
import { openDatabase } from '../../store/postgres/database.ts';
import { createRefresher } from './job-refresh.ts';
import type { FromRefreshThread, RefreshThreadSettings, ToRefreshThread } from './refresh-lane.ts';
import { limitOf, TransferTurns } from './rules.ts';

const MAX_CONNECTIONS = 6;

const settings = workerData as RefreshThreadSettings;
const port = parentPort as MessagePort;
const db = openDatabase(settings.databaseUrl, { maxConnections: MAX_CONNECTIONS });
const refresh = createRefresher({
  db,
  client: { querySoa, transferZone },
  turns: new TransferTurns(limitOf(settings.secondaryMaxRecords)),
  tsigSecrets: settings.tsigSecrets,
  allowed: networksOf(...settings.resolverAllow),
  source: settings.transferSource,
  maxRecords: settings.secondaryMaxRecords,
});
const running = new Map<number, AbortController>();

port.on('message', (message: ToRefreshThread) => {
  if (message.kind === 'refresh') void run(message.call, message.secondaryId);
  else if (message.kind === 'abort') running.get(message.call)?.abort();
  else void end();
});

async function run(call: number, secondaryId: number): Promise<void> {
  const stopping = new AbortController();
  running.set(call, stopping);
  try {
    tell({ kind: 'done', call, outcome: await refresh(secondaryId, stopping.signal) });
  } catch (error) {
    const { message, stack } = error as Error;
    tell({ kind: 'failed', call, message, stack });
  } finally {
    running.delete(call);
  }
}

function tell(message: FromRefreshThread): void {
  port.postMessage(message);
}

async function end(): Promise<void> {
  for (const stopping of running.values()) stopping.abort();
  await db.destroy();
  port.close();
}
