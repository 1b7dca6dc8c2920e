// A process for a network namespace: the small internet that one network sees, at its own addresses and port 53, and a way
// from a loopback port to a Unix socket, since the API is outside. A line of its input is a world as JSON text; it answers
// with a line when that world is there.

import { createConnection, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { FakeInternet } from '../world/fake-internet.ts';
import { parseWorld } from '../world/read-world.ts';

const [, , port, socketPath = ''] = process.argv;

const relay = createServer((near) => {
  const far = createConnection(socketPath);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => {});
    one.on('close', () => other.destroy());
    one.pipe(other);
  }
});
await new Promise<void>((done) => relay.listen(Number(port), '127.0.0.1', done));

let internet: FakeInternet | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const world = parseWorld(JSON.parse(line) as string);
  if (internet === undefined) internet = await FakeInternet.start(world, { port: 53 });
  else internet.become(world);
  process.stdout.write('there\n');
}
process.exit(0);
