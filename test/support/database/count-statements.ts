// Counts the statements of this process, their round trips and the rows that they return, to distinguish bulk work from
// work per row on any machine. Notifications are not counted, because their number depends on timing.

import type { QueryResult } from 'pg';
import { vi } from 'vitest';
import { BoundedClient } from '../../../src/store/postgres/bounded-client.ts';

interface Counted<T> {
  readonly value: T;
  readonly statements: number;
  /** Statements that are sent together make one. */
  readonly trips: number;
  readonly rows: number;
}

export async function countStatements<T>(work: () => Promise<T>): Promise<Counted<T>> {
  const query = vi.spyOn(BoundedClient.prototype, 'query');
  const withNext = vi.spyOn(BoundedClient.prototype, 'queryWithNext');
  try {
    const value = await work();
    const counted = query.mock.results.filter((_, i) => !isNotification(query.mock.calls[i]?.[0]));
    const results = (await Promise.allSettled(counted.map((result) => result.value))).map((result) =>
      result.status === 'fulfilled' ? (result.value as QueryResult | undefined) : undefined,
    );
    return {
      value,
      statements: counted.length + withNext.mock.calls.length,
      trips: counted.length,
      rows: results.reduce((sum, result) => sum + (result?.rows?.length ?? 0), 0),
    };
  } finally {
    query.mockRestore();
    withNext.mockRestore();
  }
}

function isNotification(query: unknown): boolean {
  return String((query as { text?: string })?.text ?? query).startsWith('select pg_notify(');
}
