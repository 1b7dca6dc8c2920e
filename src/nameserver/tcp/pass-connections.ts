// Passes connections to the process that replaces this one.

import { setTimeout as pause } from 'node:timers/promises';
import type { TcpConnection } from './tcp-connection.ts';

export interface PassedConnection {
  readonly descriptor: number;
  /** Input that was read but not answered. */
  readonly input: Buffer;
}

/** Limits so that the inputs fit into one message: they are in base64, and the last one may exceed PASSED_OCTETS by 4 KiB. */
const PASSED_AT_ONCE = 200;
const PASSED_OCTETS = 4096;
/** Time to wait for a connection that cannot be passed yet, for example because its peer has not read its answers. */
const PASS_TIMEOUT_MS = 1000;
const PASS_RETRY_MS = 20;

/** The connections of a listener. */
interface OpenConnections extends Iterable<TcpConnection> {
  readonly size: number;
  has(connection: TcpConnection): boolean;
}

/** Yields connections to pass; they are closed here when the next ones are requested. The rest are ended. */
export async function* passConnections(connections: OpenConnections): AsyncGenerator<PassedConnection[]> {
  const deadline = performance.now() + PASS_TIMEOUT_MS;
  for (;;) {
    yield* passOnce(connections);
    if (connections.size === 0) return;
    if (performance.now() > deadline) break;
    await pause(PASS_RETRY_MS);
  }
  for (const connection of connections) connection.finish();
}

function* passOnce(connections: OpenConnections): Generator<PassedConnection[]> {
  let passed: (PassedConnection & { connection: TcpConnection })[] = [];
  let octets = 0;
  for (const connection of connections) {
    const parts = connections.has(connection) ? connection.detach() : undefined;
    if (parts === undefined) continue;
    passed.push({ ...parts, connection });
    octets += parts.input.length;
    if (passed.length < PASSED_AT_ONCE && octets < PASSED_OCTETS) continue;
    yield passed;
    for (const each of passed) each.connection.abandon();
    passed = [];
    octets = 0;
  }
  if (passed.length === 0) return;
  yield passed;
  for (const each of passed) each.connection.abandon();
}
