// The context of a command: its output, exit code, database and queue, and the handling of Ctrl-C.

import { userInfo } from 'node:os';
import type { QueuePlace } from '../../jobs/connection.ts';
import type { JobQueue } from '../../jobs/job-queue.ts';
import type { JobKind } from '../../jobs/jobs.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { AnswerSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { Failure } from './failure.ts';
import type { Output } from './output.ts';

export interface CliSettings {
  /** Printed by `migrate`; the processes log them when they start. */
  readonly warnings?: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  /** Undefined for the secrets that `npm start` keeps in the data directory. */
  readonly keySecrets?: readonly KeySecret[];
  /** Undefined for the secrets that `npm start` keeps in the data directory. */
  readonly tsigSecrets?: readonly KeySecret[];
  readonly answers: AnswerSettings;
  readonly nameserverSetsAreDefault?: boolean;
  readonly allowReservedNames: boolean;
  readonly signsNewDomains?: boolean;
  readonly publicUrl: string;
  /** True if the URL of `npm start` in the data directory applies, provided that its database is used. */
  readonly publicUrlIsDefault?: boolean;
  /** Undefined if no mail is sent. */
  readonly smtpUrl?: string | undefined;
  readonly redisUrl: string | undefined;
  /** Undefined if people sign in with passwords only. */
  readonly oidcIssuer?: string | undefined;
  /** Undefined for the engine of `npm start` in the data directory. */
  readonly analyticsUrl?: string | undefined;
  /** Undefined if the registry is in the main database. */
  readonly cacheRegistryUrl?: string | undefined;
  readonly rolePasswords?: Readonly<Record<string, string>>;
  readonly rootHints: string | undefined;
  readonly trustAnchors?: { readonly path: string } | 'off' | undefined;
  /** Undefined if the system chooses. */
  readonly transferSource?: string | undefined;
  readonly secondaryMaxRecords?: number;
  readonly dnsPortOut: number;
  readonly resolverAllow: readonly string[];
  readonly publicResolvers: readonly { readonly address: string; readonly port: number }[];
  readonly asnDb?: string | undefined;
  readonly countryDb?: 'shipped' | { readonly path: string } | undefined;
}

export type Audited<T> = (trx: Database, tell: (note: AuditNote) => void) => Promise<T>;

export class Cli {
  readonly output: Output;
  /** 0: yes or done. 1: no, or refused. 2: see `failure.ts`. */
  exitCode = 0;
  readonly #readSettings: () => Promise<CliSettings>;
  #settings: Promise<CliSettings> | undefined;
  #interrupt: AbortController | undefined;

  constructor(output: Output, readSettings: () => Promise<CliSettings>) {
    this.output = output;
    this.#readSettings = readSettings;
  }

  settings(): Promise<CliSettings> {
    this.#settings ??= this.#readSettings();
    return this.#settings;
  }

  /** Runs `work` on the database and stores its exit code. Fails if the schema has another version. */
  async withStore(work: (db: Database) => Promise<number>): Promise<void> {
    const { checkSchema } = await import('../../store/postgres/schema-version.ts');
    await this.withDatabase(async (db) => {
      await checkSchema(db);
      return await work(db);
    });
  }

  async withDatabase(work: (db: Database) => Promise<number>): Promise<void> {
    const url = await this.#databaseUrl();
    const { openDatabase } = await import('../../store/postgres/database.ts');
    const { OPERATOR_LIMITS } = await import('../../store/postgres/deadlines.ts');
    const db = openDatabase(url, { limits: OPERATOR_LIMITS });
    const { keySecrets = [], dataDirectory } = await this.settings();
    const { openKeyBoxes } = await import('./open-key-boxes.ts');
    openKeyBoxes(db, keySecrets, dataDirectory);
    try {
      this.exitCode = await work(db);
    } finally {
      await db.destroy();
    }
  }

  /** Returns the secrets that seal TSIG keys. Empty if this user has none. */
  async tsigSecrets(): Promise<readonly KeySecret[]> {
    const { tsigSecrets = [], dataDirectory } = await this.settings();
    if (tsigSecrets.length > 0) return tsigSecrets;
    const { keptSecrets } = await import('./open-key-boxes.ts');
    return keptSecrets(dataDirectory, 'tsig-keys');
  }

  /** Like `withStore`, with the queue of jobs of this kind. */
  async withQueue<J extends object>(
    kind: JobKind<J>,
    work: (db: Database, queue: JobQueue<J>) => Promise<number>,
  ): Promise<void> {
    const place = await this.queuePlace();
    const { JobQueue } = await import('../../jobs/job-queue.ts');
    await this.withStore(async (db) => {
      const queue = new JobQueue(place, kind);
      try {
        return await work(db, queue);
      } finally {
        await queue.close();
      }
    });
  }

  async queuePlace(): Promise<QueuePlace> {
    return { databaseUrl: await this.#databaseUrl(), redisUrl: (await this.settings()).redisUrl };
  }

  /** Returns the database that has the registry of cached responses. */
  async cacheRegistry(): Promise<{ readonly url: string; readonly isElsewhere: boolean }> {
    const { cacheRegistryUrl } = await this.settings();
    return {
      url: cacheRegistryUrl ?? (await this.#databaseUrl()),
      isElsewhere: cacheRegistryUrl !== undefined,
    };
  }

  /** Returns the base URL of links. */
  async publicUrl(): Promise<string> {
    const { publicUrl, publicUrlIsDefault, databaseUrl, dataDirectory } = await this.settings();
    if (publicUrlIsDefault !== true || databaseUrl !== undefined) return publicUrl;
    const { findPublicUrl } = await import('../../store/postgres/database-url.ts');
    return findPublicUrl(dataDirectory) ?? publicUrl;
  }

  async analyticsUrl(): Promise<string> {
    const { analyticsUrl, dataDirectory } = await this.settings();
    if (analyticsUrl !== undefined) return analyticsUrl;
    const { findAnalyticsUrl } = await import('../../store/postgres/database-url.ts');
    const url = findAnalyticsUrl(dataDirectory);
    if (url !== undefined) return url;
    throw new Failure(
      'analytics',
      `ANALYTICS_URL is not set, and no "npm start" with its own database and analytics store is running in ${dataDirectory}; "npm start -- --analytics" downloads and runs one`,
    );
  }

  /** The actor in the change feed: the operator's login name. */
  actor(): string {
    try {
      return userInfo().username;
    } catch {
      return `uid ${process.getuid?.() ?? 'unknown'}`; // containers may run as user ids that have no name
    }
  }

  /** The same actor, for the change log of a domain. */
  changedBy(): ChangedBy {
    return { by: { kind: 'cli', name: this.actor() }, source: 'cli' };
  }

  /** Runs the work and writes its audit log entry in one transaction. Without a call of `tell`, no entry is written. */
  async audited<T>(db: Database, action: AuditAction, work: Audited<T>): Promise<T> {
    const { audited } = await import('../../store/audit/write-audit.ts');
    return await audited(db, { action, by: this.changedBy().by }, work);
  }

  /** The first SIGINT or SIGTERM aborts this signal; the second one ends the process immediately. */
  interruptible(): AbortSignal {
    const interrupt = this.#interrupt ?? new AbortController();
    if (this.#interrupt === undefined) {
      const raise = () => {
        interrupt.abort();
        process.off('SIGINT', raise);
        process.off('SIGTERM', raise);
      };
      process.on('SIGINT', raise);
      process.on('SIGTERM', raise);
      this.#interrupt = interrupt;
    }
    return interrupt.signal;
  }

  async #databaseUrl(): Promise<string> {
    const { databaseUrl, dataDirectory } = await this.settings();
    if (databaseUrl !== undefined) return databaseUrl;
    const { findDatabaseUrl } = await import('../../store/postgres/database-url.ts');
    const url = findDatabaseUrl(dataDirectory);
    if (url !== undefined) return url;
    throw new Failure(
      'no_database',
      `DATABASE_URL is not set, and no "npm start" is running in ${dataDirectory}; start it, or set DATABASE_URL or DATA_DIR`,
    );
  }
}
