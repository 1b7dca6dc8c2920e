// Request reports of an edge: lines, batches, and a store that accepts rows like the analytics store.

import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Analytics } from '../../../src/analytics/open-analytics.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into rows freely
type Row = any;

/** Accepts each token once, and may be unavailable. */
export class FakeStore implements Pick<Analytics, 'insert'> {
  readonly rows: Row[] = [];
  readonly tokens: string[] = [];
  /** Thrown instead of accepting a batch. */
  fault: ((token: string) => Error | undefined) | undefined;
  /** Thrown after a batch was accepted, so that its response is lost. */
  lostAnswer: Error | undefined;
  tries = 0;

  async insert(table: string, rows: readonly object[] | Readable, token: string): Promise<void> {
    this.tries++;
    if (table !== 'requests') throw new Error(table);
    const fault = this.fault?.(token);
    if (fault !== undefined) throw fault;
    if (!this.tokens.includes(token)) {
      const taken: Row[] = [];
      for await (const row of rows) taken.push(row);
      this.rows.push(...taken);
      this.tokens.push(token);
    }
    const lost = this.lostAnswer;
    this.lostAnswer = undefined;
    if (lost !== undefined) throw lost;
  }

  async until(rows: number): Promise<Row[]> {
    while (this.rows.length < rows) await pause(10);
    return this.rows;
  }
}

export function requestLine(changes: object = {}): Record<string, unknown> {
  return {
    at: new Date().toISOString(),
    host: 'www.shop.example',
    method: 'GET',
    uri: '/',
    status: 200,
    octets: 1000,
    ms: 10,
    client: '203.0.113.9',
    ...changes,
  };
}

export function linesOf(lines: readonly (object | string)[]): string {
  return lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
}

interface Batch {
  readonly url: string;
  readonly token: string;
  readonly batch: string | undefined;
  readonly body: string | Uint8Array | ReadableStream;
  readonly headers?: Record<string, string>;
}

interface BatchAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
  readonly headers: Headers;
}

export async function sendBatch({ url, token, batch, body, headers = {} }: Batch): Promise<BatchAnswer> {
  const response = await fetch(`${url}/edge/v1/requests`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      ...(batch === undefined ? {} : { 'batch-id': batch }),
      ...headers,
    },
    body: body as string,
    duplex: 'half',
  } as RequestInit);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

export function packed(text: string): { body: Uint8Array; headers: Record<string, string> } {
  return { body: gzipSync(text), headers: { 'content-encoding': 'gzip' } };
}
