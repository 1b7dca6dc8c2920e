// Reports the node's position to the primary, if it is reachable, and holds the node's name, so that a second live
// process with the same name refuses to start. Answers never depend on it.

import { setTimeout as pause } from 'node:timers/promises';
import {
  type Backoff,
  createBackoff,
  type Log,
  pauseUnless,
  Wakeup,
  warnOncePerMinute,
} from '../../process/reconnect.ts';
import {
  claimNodeName,
  loadLastReport,
  type NodeClaim,
  type NodeReport,
  saveNodeReport,
  signOffNode,
} from '../../store/feed/nodes.ts';
import { reportAskedZones, reportDnsCounts } from '../../store/feed/report-counts.ts';
import { type Connection, connect } from '../../store/postgres/connection.ts';
import type { CountedMinutes } from '../counts/counted-minutes.ts';
import type { AskedZones } from './asked-zones.ts';

const HEARTBEAT_MS = 1000;
const SPACING_MS = 50;
/** Four heartbeats. A live process that has the name reports within this time. */
const CLAIM_TIMEOUT_MS = 4000;
const CLAIM_RETRY_MS = 200;
const SIGN_OFF_TIMEOUT_MS = 1000;
/** Parts of counts reported between two reports of the position; each takes some milliseconds. */
const PARTS_IN_TURN = 8;

const HELD_SILENTLY =
  'a session that reports nothing holds the name of this node: the node answers queries, and reports its position after that session ends';

/** Another live process has this NODE_NAME. */
export class NodeNameTakenError extends Error {
  override readonly name = 'NodeNameTakenError';
}

interface ReporterOptions {
  databaseUrl: string;
  nodeName: string;
  log: Log;
  /** True if the name belongs to the process that this one replaces, until that ends. */
  isSuccessor?: boolean;
  report: () => NodeReport;
  /** The unproven zones to report. */
  asked: AskedZones;
  /** The counted answers to report. */
  counted?: CountedMinutes;
  /** Called when the primary has been reached. It then reports whether the name is free. */
  onReached?: () => void;
}

export class PositionReporter {
  readonly #options: ReporterOptions;
  readonly #backoff: Backoff = createBackoff();
  readonly #wakeup = new Wakeup();
  readonly #warn: ReturnType<typeof warnOncePerMinute>;
  #connection: Connection | undefined;
  /** True while the process that this one replaces may still have the name. */
  #isSuccessor: boolean;
  /** True if the last report of counts failed and the failure was logged. */
  #isCountFailureLogged = false;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#warn = warnOncePerMinute(options.log);
    this.#isSuccessor = options.isSuccessor ?? false;
  }

  /**
   * Throws if another live process has the name. If the primary does not answer, or a session that reports nothing
   * holds the name (a killed process that the server has not noticed), retries in the background.
   */
  async start(): Promise<void> {
    if (this.#isSuccessor) {
      this.#options.onReached?.();
      this.#running = this.#run(undefined);
      return;
    }
    let connection: Connection | undefined;
    try {
      connection = await this.#connect();
      this.#options.onReached?.();
      if (!(await this.#claim(connection, CLAIM_TIMEOUT_MS))) {
        this.#options.log.warn({ nodeName: this.#options.nodeName }, HELD_SILENTLY);
        await connection.close();
        connection = undefined;
      }
    } catch (error) {
      await connection?.close();
      if (error instanceof NodeNameTakenError) throw error;
      this.#options.log.warn(
        { err: error },
        'the primary cannot be reached: this node does not report its position',
      );
      connection = undefined;
    }
    this.#running = this.#run(connection);
  }

  /** Call it when there is something new to report. */
  changed(): void {
    this.#wakeup.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wakeup.wake();
    await this.#running;
  }

  async #run(claimed: Connection | undefined): Promise<void> {
    let connection = claimed;
    while (!this.#stopping.signal.aborted) {
      try {
        if (connection === undefined) {
          connection = await this.#connect();
          await this.#claim(connection, Number.POSITIVE_INFINITY);
        }
        this.#connection = connection;
        this.#backoff.reset();
        await this.#reportOn(connection);
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#warn(error, 'this node cannot report its position');
      }
      await this.#signOff();
      await connection?.close();
      connection = undefined;
      this.#connection = undefined;
      await pauseUnless(this.#stopping.signal, this.#backoff.nextMs());
    }
  }

  async #connect(): Promise<Connection> {
    const { databaseUrl, nodeName } = this.#options;
    const connection = await connect(databaseUrl, {
      applicationName: `zonefleet node ${nodeName}`,
      signal: this.#stopping.signal,
    });
    connection.ended.then(() => this.#wakeup.wake());
    return connection;
  }

  /** Claims the name. Returns false if a session that reports nothing holds it. */
  async #claim(connection: Connection, timeoutMs: number): Promise<boolean> {
    const { report, log } = this.#options;
    const { name, instance } = report();
    const startedMs = Date.now();
    let before: NodeClaim | undefined;
    let isLogged = this.#isSuccessor;
    const first = await loadLastReport(connection, name);
    for (;;) {
      const claim = await claimNodeName(connection, { name, instance });
      if (claim === 'claimed') {
        this.#isSuccessor = false;
        return true;
      }
      if (this.#stopping.signal.aborted) throw new Error('stopped');
      const isStarting = timeoutMs !== Number.POSITIVE_INFINITY;
      if (isStarting && claim === 'taken' && (await loadLastReport(connection, name)) !== first) {
        throw new NodeNameTakenError(
          `another process runs as node "${name}": give each node its own NODE_NAME`,
        );
      }
      if (Date.now() - startedMs > timeoutMs) return false;
      if (claim === 'ending' && before !== claim) {
        log.info({ nodeName: name }, 'the previous session of this node was ended');
      }
      // A single refusal may come from a session that was just ending. At the start, an error follows anyway.
      if (claim === 'taken' && before === claim && !isLogged && !isStarting) {
        log.error({ nodeName: name }, 'another process uses the name of this node');
        isLogged = true;
      }
      before = claim;
      await pauseUnless(this.#stopping.signal, CLAIM_RETRY_MS);
    }
  }

  async #reportOn(connection: Connection): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await saveNodeReport(connection, this.#options.report());
      await this.#reportAsked(connection);
      await this.#reportCounts(connection);
      await pauseUnless(this.#stopping.signal, SPACING_MS);
      await this.#wakeup.wait(HEARTBEAT_MS - SPACING_MS);
    }
  }

  /** A failure does not stop the node's other reports. */
  async #reportAsked(connection: Connection): Promise<void> {
    const { asked, log } = this.#options;
    const zoneIds = asked.take(Date.now());
    if (zoneIds.length === 0) return;
    try {
      asked.putBack(await reportAskedZones(connection, zoneIds), Date.now());
    } catch (error) {
      asked.lose(zoneIds.length);
      log.debug({ err: error, zones: zoneIds.length }, 'unproven zones with queries could not be reported');
    }
  }

  /** A part that failed is reported again with the same number, because it may have arrived. */
  async #reportCounts(connection: Connection): Promise<void> {
    const { counted, log, report } = this.#options;
    const { name: node, instance } = report();
    for (let sent = 0; sent < PARTS_IN_TURN; sent++) {
      const part = counted?.next(Date.now());
      if (part === undefined) return;
      try {
        await reportDnsCounts(connection, { node, instance, ...part });
        counted?.done(part);
        this.#isCountFailureLogged = false;
      } catch (error) {
        if (!this.#isCountFailureLogged)
          log.warn({ err: error }, 'the counts of answers cannot be reported: they will be reported later');
        this.#isCountFailureLogged = true;
        return;
      }
    }
  }

  async #signOff(): Promise<void> {
    const connection = this.#connection;
    if (!this.#stopping.signal.aborted || connection?.isOpen() !== true) return;
    const { name, instance } = this.#options.report();
    const signedOff = this.#reportCounts(connection)
      .then(() => signOffNode(connection, name, instance))
      .catch(() => undefined);
    await Promise.race([signedOff, pause(SIGN_OFF_TIMEOUT_MS)]);
  }
}
