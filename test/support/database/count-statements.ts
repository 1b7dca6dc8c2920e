// Counts what this process asks its databases: a count tells work in bulk from work row by row, on any machine.

import { Client } from 'pg';
import { vi } from 'vitest';

export async function countStatements<T>(work: () => Promise<T>): Promise<{ value: T; statements: number }> {
  const query = vi.spyOn(Client.prototype, 'query');
  try {
    const value = await work();
    return { value, statements: query.mock.calls.length };
  } finally {
    query.mockRestore();
  }
}
