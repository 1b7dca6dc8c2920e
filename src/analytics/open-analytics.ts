// The analytics store: ClickHouse over HTTP, as a server or embedded. All its SQL is in this folder. Its tables are
// created on the first call. Values are passed only as query parameters, and every call is limited in time, memory
// and size of the response.

import type { Readable } from 'node:stream';
import { type ClickHouseClient, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { boundSignal } from '../process/bound-signal.ts';
import { type FaultKind, judgeFault, lacksTables, wordsOf } from './judge-fault.ts';
import { migrateAnalytics } from './migrate-analytics.ts';

/**
 * `absent`: the store is unavailable, and has been since this process started. `away`: it is unavailable or cannot
 * work now (no space, no memory, too many calls), so the same call may succeed later. `slow`: the call exceeded its
 * time limit. `refused`: the store rejects this call, and would reject it again.
 */
export class AnalyticsFault extends Error {
  override readonly name = 'AnalyticsFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface Analytics {
  /** Returns the rows of a SELECT. Values are `{name:Type}` parameters. `seconds` limits the time in the store. */
  query<R>(
    sql: string,
    values: Record<string, unknown>,
    options: { readonly seconds: number; readonly signal?: AbortSignal },
  ): Promise<R[]>;
  /**
   * Inserts all rows before it resolves. After a failure, some of them may be stored. `token` makes a repeat of the
   * same rows harmless, also in the rollups. At most 64 MiB of JSON, and rows of at most 100 days.
   */
  insert(table: string, rows: readonly object[] | Readable, token: string): Promise<void>;
  close(): Promise<void>;
}

const CONNECTIONS = 16;
/** Added to the time limit of the store, for the network and for waiting until it starts. */
const MARGIN_MS = 10_000;
const INSERT_MS = 60_000;

/** Limits of one query. */
const QUERY_LIMITS: ClickHouseSettings = {
  max_result_rows: '100000',
  max_result_bytes: String(32 * 1024 * 1024),
  result_overflow_mode: 'throw',
  max_memory_usage: String(1024 ** 3),
  max_bytes_before_external_group_by: String(512 * 1024 ** 2),
  max_bytes_before_external_sort: String(512 * 1024 ** 2),
  timeout_overflow_mode: 'throw',
  output_format_json_quote_64bit_integers: 0,
};

const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // One block per partition, identical in every repeat, because the token applies to blocks.
  input_format_parallel_parsing: 0,
  max_insert_block_size: '1000000000',
  max_insert_threads: '1',
  input_format_skip_unknown_fields: 0,
  date_time_input_format: 'best_effort',
  max_partitions_per_insert_block: '100',
  throw_on_max_partitions_per_insert_block: 1,
};

/** Opens no connection yet, because the store may be unavailable. `url` includes user, password and database. */
export function openAnalytics(url: string): Analytics {
  const client = createClient({
    url,
    application: 'zonefleet',
    max_open_connections: CONNECTIONS,
    request_timeout: INSERT_MS + MARGIN_MS,
    keep_alive: { idle_socket_ttl: 1500 },
    log: { level: 127 }, // off: errors are thrown
  });
  let migrated: Promise<void> | undefined;
  let wasThere = false;

  async function inTables<T>(work: () => Promise<T>): Promise<T> {
    try {
      migrated ??= migrateAnalytics(client);
      const made = migrated;
      await made.catch((error: unknown) => {
        if (migrated === made) migrated = undefined;
        throw error;
      });
      wasThere = true;
      return await work();
    } catch (error) {
      if (lacksTables(error)) migrated = undefined;
      const kind = judgeFault(error);
      const shownKind = kind === 'away' && !wasThere ? 'absent' : kind;
      throw new AnalyticsFault(shownKind, `the analytics store: ${wordsOf(error)}`, { cause: error });
    }
  }

  return {
    query: async <R>(sql: string, values: Record<string, unknown>, options: QueryOptions) =>
      await inTables(async () => select<R>(client, sql, values, options)),
    insert: async (table, rows, token) =>
      await inTables(async () => {
        if (Array.isArray(rows) && rows.length === 0) return;
        await client.insert({
          table,
          values: rows as Readable,
          format: 'JSONEachRow',
          clickhouse_settings: {
            ...INSERT_SETTINGS,
            insert_deduplication_token: token,
            max_execution_time: 60,
          },
        });
      }),
    close: () => client.close(),
  };
}

type QueryOptions = Parameters<Analytics['query']>[2];

async function select<R>(
  client: ClickHouseClient,
  sql: string,
  values: Record<string, unknown>,
  { seconds, signal }: QueryOptions,
): Promise<R[]> {
  const limitMs = seconds * 1000 + MARGIN_MS;
  const abort_signal = signal === undefined ? AbortSignal.timeout(limitMs) : boundSignal(signal, limitMs);
  const result = await client.query({
    query: sql,
    query_params: values,
    format: 'JSONEachRow',
    abort_signal,
    clickhouse_settings: { ...QUERY_LIMITS, max_execution_time: seconds },
  });
  return await result.json<R>();
}

/** Returns a handler that ignores errors of an unavailable store, which its watch reports once. */
export function unlessAway(trouble: (error: Error) => void): (error: unknown) => void {
  return (error) => {
    const isAway = error instanceof AnalyticsFault && (error.kind === 'away' || error.kind === 'absent');
    if (!isAway) trouble(error as Error);
  };
}
