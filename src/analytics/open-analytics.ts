// The analytics store: ClickHouse over HTTP, a server or the embedded one. All its SQL is in this folder and its tables are
// made on the first call; values travel as query parameters only, and every call is bounded in time, memory and answer.

import type { Readable } from 'node:stream';
import { type ClickHouseClient, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { type FaultKind, judgeFault, lacksTables, wordsOf } from './judge-fault.ts';
import { migrateAnalytics } from './migrate-analytics.ts';

/**
 * `absent`: it is away, and has not been there since this process began. `away`: it cannot be reached, or cannot work now (no space, no memory, too many calls): the same call may succeed later.
 * `slow`: it took longer than it may. `refused`: it says no to this call, and would again.
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
  /** Rows of a SELECT; values only as `{name:Type}` parameters. `seconds`: how long the store may work on it. */
  query<R>(
    sql: string,
    values: Record<string, unknown>,
    options: { readonly seconds: number; readonly signal?: AbortSignal },
  ): Promise<R[]>;
  /**
   * One insert, whole when this resolves; after a failure some of it may be there. `token` makes a repeat of the same rows
   * harmless, also in the rollups. At most 64 MiB of JSON, and rows of at most 100 days.
   */
  insert(table: string, rows: readonly object[] | Readable, token: string): Promise<void>;
  close(): Promise<void>;
}

const CONNECTIONS = 16;
/** Beyond the time that the store is given: for the way there and back, and for waiting until it begins. */
const MARGIN_MS = 10_000;
const INSERT_MS = 60_000;

/** Of what one query may take. */
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
  // One block a partition, the same on every repeat: the token counts for blocks.
  input_format_parallel_parsing: 0,
  max_insert_block_size: '1000000000',
  max_insert_threads: '1',
  input_format_skip_unknown_fields: 0,
  date_time_input_format: 'best_effort',
  max_partitions_per_insert_block: '100',
  throw_on_max_partitions_per_insert_block: 1,
};

/** Opens no connection yet: the store may be away, and each call tells of it. `url` names user, password and database. */
export function openAnalytics(url: string): Analytics {
  const client = createClient({
    url,
    application: 'zonefleet',
    max_open_connections: CONNECTIONS,
    request_timeout: INSERT_MS + MARGIN_MS,
    keep_alive: { idle_socket_ttl: 1500 },
    log: { level: 127 }, // off: faults are thrown
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
      const told = kind === 'away' && !wasThere ? 'absent' : kind;
      throw new AnalyticsFault(told, `the analytics store: ${wordsOf(error)}`, { cause: error });
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
  const limit = AbortSignal.timeout(seconds * 1000 + MARGIN_MS);
  const abort_signal = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const result = await client.query({
    query: sql,
    query_params: values,
    format: 'JSONEachRow',
    abort_signal,
    clickhouse_settings: { ...QUERY_LIMITS, max_execution_time: seconds },
  });
  return await result.json<R>();
}

/** Returns a handler that ignores errors of a store that is offline, which its watch reports once. */
export function unlessAway(trouble: (error: Error) => void): (error: unknown) => void {
  return (error) => {
    const isAway = error instanceof AnalyticsFault && (error.kind === 'away' || error.kind === 'absent');
    if (!isAway) trouble(error as Error);
  };
}
