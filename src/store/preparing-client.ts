// A pool's connection, which prepares statements.

import { Client, type QueryResult } from 'pg';
import { notePreparedFailure, preparedName } from './prepared-statements.ts';

type Callback = (error: Error, result: QueryResult) => void;

export class PreparingClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads, passed through
  override query(first: any, second?: any, third?: any): any {
    const name = typeof first === 'string' && Array.isArray(second) ? preparedName(first, second) : undefined;
    if (name === undefined) return super.query(first, second, third);
    const statement = { name, text: first as string, values: second as unknown[] };
    if (typeof third !== 'function') {
      return super.query(statement).catch((error) => {
        notePreparedFailure(error);
        throw error;
      });
    }
    return super.query(statement, (error: Error, result: QueryResult) => {
      if (error) notePreparedFailure(error);
      (third as Callback)(error, result);
    });
  }
}
