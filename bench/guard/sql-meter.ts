// A proxy in front of Postgres that counts the statements and octets of one program.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onEnd } from '../cleanup.ts';
import { benchCluster } from '../postgres/cluster.ts';

export interface SqlCounts {
  readonly statements: number;
  /** In both directions. */
  readonly octets: number;
}

export interface SqlMeter {
  readonly url: string;
  /** Totals since the start. */
  counts(): SqlCounts;
}

const QUERY = 0x51;
const EXECUTE = 0x45;
const TYPE_AND_LENGTH = 5;

export async function meterSql(database: string): Promise<SqlMeter> {
  const { socketDirectory } = await benchCluster();
  let statements = 0;
  let octets = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const postgres = connect(`${socketDirectory}/.s.PGSQL.5432`);
    const count = countStatements(() => statements++);
    client.on('data', (chunk) => {
      octets += chunk.length;
      count(chunk);
    });
    postgres.on('data', (chunk) => {
      octets += chunk.length;
    });
    for (const [from, to] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => to.destroy())
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      from.setNoDelay(true).pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://zonefleet@127.0.0.1:${port}/${database}`,
    counts: () => ({ statements, octets }),
  };
}

/** Follows the frontend messages of a connection (PostgreSQL manual, "Message Formats"). */
function countStatements(onStatement: () => void): (chunk: Buffer) => void {
  const header: number[] = [];
  let isStartup = true; // the first message has no type
  let left = 0; // octets of the current message's body
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - at);
        left -= taken;
        at += taken;
        continue;
      }
      header.push(chunk[at++] as number);
      if (header.length < (isStartup ? TYPE_AND_LENGTH - 1 : TYPE_AND_LENGTH)) continue;
      const [type] = isStartup ? [0] : header;
      left = Buffer.from(header).readUInt32BE(header.length - 4) - 4;
      if (type === QUERY || type === EXECUTE) onStatement();
      header.length = 0;
      isStartup = false;
    }
  };
}
