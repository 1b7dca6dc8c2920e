// `zonefleet cache keys`: lists cached entries.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { onOneDomain } from '../../cli/terminal/on-one-domain.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { OwnerOption } from '../../cli/terminal/with-owner.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { listEntries } from './sql-entries.ts';
import { CacheRegistry, isRegistryUnavailable } from './sql-registry.ts';

export interface KeysOptions extends OwnerOption {
  readonly host?: string;
  readonly path?: string;
  readonly node?: string;
  readonly limit: string;
  readonly offset: string;
}

const MOST_ROWS = 1000;
const MOST_OFFSET = 2_147_483_647;
const HEADS = ['HOST', 'PATH', 'QUERY', 'VARIANT', 'METHOD', 'NODE', 'SIZE', 'CACHED', 'EXPIRES'];

export async function listKeys(cli: Cli, text: string, options: KeysOptions): Promise<void> {
  const { output } = cli;
  const { host, path, node } = options;
  const limit = integerOf('--limit', options.limit, 1, MOST_ROWS);
  const offset = integerOf('--offset', options.offset, 0, MOST_OFFSET);
  const place = await cli.cacheRegistry();
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const registry = new CacheRegistry({ ...place, maxConnections: 1 });
      try {
        const page = { sort: 'cached_at', ascends: false, limit, offset, host, path, node } as const;
        const { rows, total, dropped } = await listEntries(await registry.database(), id, page);
        if (output.json) {
          const keys = rows.map((entry) => ({
            host: entry.host,
            path: entry.path,
            query: entry.query,
            variant: entry.variant,
            method: entry.method,
            node: entry.node,
            hostname: entry.hostname,
            store_path: entry.storePath,
            size: entry.size,
            cached_at: entry.cachedAt.toISOString(),
            expires_at: entry.expiresAt.toISOString(),
          }));
          await output.print(JSON.stringify({ domain: printWithoutDot(name), keys, total, dropped }));
          return 0;
        }
        const second = (at: Date) => `${at.toISOString().slice(0, 19)}Z`;
        await output.print(
          printTable(
            HEADS,
            rows.map(({ host, path, query, variant, method, node, size, cachedAt, expiresAt }) => [
              ...[host, path, query || '-', variant || '-', method, node],
              size,
              ...[second(cachedAt), second(expiresAt)],
            ]),
          ),
        );
        const none = dropped > 0 ? `; ${dropped} were dropped for lack of space` : '';
        await output.print(`${rows.length} of ${total}${none}`);
        return 0;
      } catch (error) {
        if (isRegistryUnavailable(error))
          throw new Failure('database', `the cache registry cannot answer: ${(error as Error).message}`, {
            cause: error,
          });
        throw error;
      } finally {
        await registry.close();
      }
    }),
  );
}

function integerOf(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Failure('usage', `${option}: expected a whole number from ${least} to ${most}`);
}
