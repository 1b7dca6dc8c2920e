// A database in the form that packages with their own SQL take: something with `query`.

import { CompiledQuery } from 'kysely';
import type { Database } from './database.ts';

interface StatementClient {
  query(statement: { text: string; values?: readonly unknown[] }): Promise<{ rows: unknown[] }>;
}

export function statementClient(db: Database): StatementClient {
  return {
    query: ({ text, values = [] }) => db.executeQuery(CompiledQuery.raw(text, [...values])),
  };
}
