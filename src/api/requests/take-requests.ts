// Handles one batch of requests that an edge reports: validates its lines, writes them to the spool as rows, and
// counts dropped lines.
//
//     lines ─▶ spool: written, synced, held ─▶ row of the batch in PostgreSQL ─▶ spool: released for flushing ─▶ response
//
// After a crash in between, the batch was not answered, so the edge repeats it. It may then be in the spool twice, but with one token,
// so that the store counts it once. If the row of a batch exists, its lines are in a spool.

import { type EdgeRequest, judgeLine } from '../../edge/requests/request-line.ts';
import { type RowOptions, requestRow } from '../../edge/requests/request-row.ts';
import { type BatchCounts, findBatch, saveBatch } from '../../store/edges/edge-requests.ts';
import type { FoundEdge } from '../../store/edges/edges.ts';
import type { Database } from '../../store/postgres/database.ts';
import { Problem, unauthorized, unavailable } from '../answers/problem.ts';
import type { ByteBudget } from './batch-limits.ts';
import { BatchPlaces } from './batch-limits.ts';
import type { PaceBounds } from './body-pace.ts';
import { HostOwners, HostRecords } from './host-records.ts';
import { MOST_ROW_BYTES, type Spool, SpoolFull, type SpoolWriter } from './spool.ts';
import { BodyRefusal, type StreamBounds, type StreamedBody } from './streamed-body.ts';

const MIB = 1024 * 1024;
export const REQUEST_BOUNDS: StreamBounds = {
  wireBytes: 8 * MIB,
  unpackedBytes: 64 * MIB,
  lineBytes: 32 * 1024,
  lines: 300_000,
  pace: { graceMs: 5000, bytesASecond: 64 * 1024, mostMs: 30_000 },
};
/** Number of lines whose hosts are looked up together. */
const LINES_PER_LOOKUP = 1000;
/** The body is refused if this many lines were read and none of them is valid. */
const HOPELESS_LINES = 1000;
const FULL_RETRY_SECONDS = 30;
const BUSY_RETRY_SECONDS = 2;

interface Taking {
  readonly db: Database;
  readonly spool: Spool;
  readonly budget: ByteBudget;
  readonly pace: PaceBounds;
  readonly visitorKey: () => Promise<Uint8Array>;
  readonly wholeClients: boolean;
  readonly countLines: (outcome: 'accepted' | 'line' | 'time' | 'host', lines: number) => void;
  readonly nowMs: () => number;
}

/** Accepts the requests that edges report to this process. */
export class RequestIntake {
  readonly #taking: Taking;
  readonly #places = new BatchPlaces();

  constructor(taking: Taking) {
    this.#taking = taking;
  }

  async take(edge: FoundEdge, batch: string, body: StreamedBody): Promise<BatchCounts | Problem> {
    const seconds = this.#taking.budget.judge(edge.id);
    if (seconds !== undefined)
      return new Problem(429, 'too many bytes', { headers: { 'Retry-After': String(seconds) } });
    if (!this.#places.take(edge.id))
      return unavailable('too many batches at the same time; try again', BUSY_RETRY_SECONDS);
    try {
      return (await findBatch(this.#taking.db, edge.id, batch)) ?? (await this.#work(edge, batch, body));
    } finally {
      this.#taking.budget.take(edge.id, body.unpackedBytes);
      this.#places.give(edge.id, body.isSlow);
    }
  }

  async #work(edge: FoundEdge, batch: string, body: StreamedBody): Promise<BatchCounts | Problem> {
    const { spool, visitorKey, wholeClients } = this.#taking;
    const options = { edgeId: edge.id, visitorKey: await visitorKey(), wholeClients };
    let writer: SpoolWriter | undefined;
    try {
      writer = await spool.begin(`${edge.id}:${batch}`);
      const counts = await this.#write(writer, edge, options, body);
      return await this.#save(writer, edge, batch, counts);
    } catch (error) {
      await writer?.discard();
      if (error instanceof BodyRefusal) return error.problem;
      if (error instanceof SpoolFull)
        return unavailable('no space for requests at present; try again', FULL_RETRY_SECONDS);
      throw error;
    }
  }

  async #write(
    writer: SpoolWriter,
    edge: FoundEdge,
    options: RowOptions,
    body: StreamedBody,
  ): Promise<BatchCounts> {
    const { db, nowMs, pace } = this.#taking;
    const owners = new HostOwners(db, edge.region);
    const records = new HostRecords(db);
    const dropped = { line: 0, time: 0, host: 0 };
    let accepted = 0;
    let rowBytes = 0;
    let waiting: EdgeRequest[] = [];
    const write = async () => {
      const found = await owners.find(waiting.map(({ host }) => host));
      const counted = await records.find(waiting, found);
      let rows = '';
      for (const request of waiting) {
        const domainId = found.get(request.host)?.domainId;
        if (domainId === undefined) dropped.host++;
        else {
          const owner = { domainId, countsAs: counted.get(request.host) };
          rows += `${JSON.stringify(requestRow(request, owner, options))}\n`;
          accepted++;
        }
      }
      waiting = [];
      const octets = Buffer.from(rows);
      rowBytes += octets.length;
      if (rowBytes > MOST_ROW_BYTES) throw new BodyRefusal(new Problem(413, 'the batch has too many lines'));
      await writer.write(octets);
    };
    for await (const lines of body.lines({ ...REQUEST_BOUNDS, pace })) {
      const now = nowMs();
      for (const line of lines) {
        const read = line === undefined ? 'line' : judgeLine(line, now);
        if (typeof read === 'string') dropped[read]++;
        else waiting.push(read);
        if (waiting.length >= LINES_PER_LOOKUP) await write();
      }
      if (dropped.line >= HOPELESS_LINES && accepted + waiting.length + dropped.host + dropped.time === 0)
        throw new BodyRefusal(new Problem(422, `none of the first ${dropped.line} lines is valid`));
    }
    await write();
    return { accepted, dropped };
  }

  async #save(
    writer: SpoolWriter,
    edge: FoundEdge,
    batch: string,
    counts: BatchCounts,
  ): Promise<BatchCounts | Problem> {
    const { db, countLines } = this.#taking;
    const held = counts.accepted === 0 ? undefined : await writer.hold(counts.accepted);
    const saved = await saveBatch(db, edge, batch, counts).catch(async (error: unknown) => {
      await held?.release(); // the row may exist despite the error
      throw error;
    });
    if (saved.kind === 'saved') await held?.release();
    else await held?.discard();
    if (held === undefined) await writer.discard();
    if (saved.kind === 'known') return saved.counts;
    if (saved.kind === 'revoked') return unauthorized('a valid edge token is required');
    countLines('accepted', counts.accepted);
    for (const why of ['line', 'time', 'host'] as const) countLines(why, counts.dropped[why]);
    return counts;
  }
}
