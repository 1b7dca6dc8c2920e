// Counts the statements of this process and the rows that they return. Counts distinguish work in bulk from work row by row, on
// any machine.

import { Client, type QueryResult } from 'pg';
import { vi } from 'vitest';

interface Counted<T> {
  readonly value: T;
  readonly statements: number;
  readonly rows: number;
}

export async function countStatements<T>(work: () => Promise<T>): Promise<Counted<T>> {
  const query = vi.spyOn(Client.prototype, 'query');
  try {
    const value = await work();
    const results = (await Promise.allSettled(query.mock.results.map((result) => result.value))).map(
      (result) => (result.status === 'fulfilled' ? (result.value as QueryResult | undefined) : undefined),
    );
    return {
      value,
      statements: query.mock.calls.length,
      rows: results.reduce((sum, result) => sum + (result?.rows?.length ?? 0), 0),
    };
  } finally {
    query.mockRestore();
  }
}
